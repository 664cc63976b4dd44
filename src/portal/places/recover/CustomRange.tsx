import { useState } from 'preact/hooks';
import { Button } from '../../parts/Button.js';
import { Field, Form, FormProblem, TextField, useIsSending } from '../../parts/Form.js';
import { MomentField } from '../../parts/MomentField.js';
import { countReplay, type Count, type Range } from './count.js';
import { isNothing, willSend } from './Offer.js';

interface Props {
  webhookId: string;
  from: string;
  onSend: (range: Range) => Promise<void>;
}

const kinds = [
  { status: '', text: 'All that it missed' },
  { status: 'FAILED', text: 'Failed' },
  { status: 'HELD', text: 'Held' },
  { status: 'PENDING', text: 'Pending' },
  { status: 'NEVER_ATTEMPTED', text: 'Never attempted' },
];

/** Counts, then sends, what was missed in any span, of a kind of deliveries or of one shipment. */
export function CustomRange({ webhookId, from: since, onSend }: Props) {
  const [from, setFrom] = useState(since);
  const [to, setTo] = useState(() => new Date().toISOString());
  const [status, setStatus] = useState('');
  const [trackingId, setTrackingId] = useState('');
  const [counted, setCounted] = useState<{ range: Range; count: Count } | null>(null);
  const changed =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      setCounted(null);
      set(value);
    };
  const count = async () => {
    const number = trackingId.trim().toUpperCase();
    const range = {
      from,
      to,
      ...(status && { status }),
      ...(number && { trackingId: number }),
    } as Range;
    setCounted({ range, count: await countReplay(webhookId, range) });
  };
  return (
    <details class="custom">
      <summary>Another time range, or only a part</summary>
      <Form onSubmit={count}>
        <div class="custom-fields">
          <MomentField label="From" value={from} onInput={changed(setFrom)} />
          <MomentField label="To" value={to} onInput={changed(setTo)} />
          <Field label="What" name="status">
            {(control) => (
              <select
                {...control}
                value={status}
                onChange={(event) => changed(setStatus)(event.currentTarget.value)}
              >
                {kinds.map((kind) => (
                  <option key={kind.status} value={kind.status}>
                    {kind.text}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <TextField
            label="Tracking id (optional)"
            name="trackingId"
            value={trackingId}
            onInput={changed(setTrackingId)}
            spellcheck={false}
            autocomplete="off"
          />
        </div>
        <FormProblem shown={['status', 'trackingId']} />
        <div class="actions custom-send">
          <CountButton />
          {counted && !isNothing(counted.count) && (
            <Button
              kind="primary"
              onClick={async () => {
                await onSend(counted.range);
                setCounted(null);
              }}
            >
              Send
            </Button>
          )}
          <p role="status">
            {counted && (isNothing(counted.count) ? 'There is nothing to send.' : willSend(counted.count))}
          </p>
        </div>
      </Form>
    </details>
  );
}

const CountButton = () => (
  <Button type="submit" isBusy={useIsSending()}>
    Count
  </Button>
);
