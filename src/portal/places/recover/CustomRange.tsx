import { useState } from 'preact/hooks';
import { Button } from '../../parts/Button.js';
import { Form, FormProblem, MomentField, SelectField, SubmitButton, TextField } from '../../parts/Form.js';
import { countReplay, type Count, type Range } from './count.js';
import { isNothing, willSend } from './Offer.js';

interface Props {
  webhookId: string;
  from: string;
  onSend: (range: Range) => Promise<void>;
}

const kinds = [
  ['', 'All that it missed'],
  ['FAILED', 'Failed'],
  ['HELD', 'Held'],
  ['PENDING', 'Pending'],
  ['NEVER_ATTEMPTED', 'Never attempted'],
] as const;

/** Counts, then sends, what was missed in any span, of a kind of deliveries or of one shipment. */
export function CustomRange({ webhookId, from: since, onSend }: Props) {
  const [from, setFrom] = useState(since);
  const [to, setTo] = useState(() => new Date().toISOString());
  const [status, setStatus] = useState('');
  const [trackingId, setTrackingId] = useState('');
  const [counted, setCounted] = useState<{ range: Range; count: Count } | null>(null);
  const changed = (set: (value: string) => void) => (value: string) => {
    setCounted(null);
    set(value);
  };
  const count = async () => {
    const number = trackingId.trim().toUpperCase();
    const range = { from, to, ...(status && { status }), ...(number && { trackingId: number }) } as Range;
    setCounted({ range, count: await countReplay(webhookId, range) });
  };
  return (
    <details class="custom">
      <summary>Another time range, or only a part</summary>
      <Form onSubmit={count}>
        <div class="custom-fields">
          <MomentField label="From" name="from" value={from} onInput={changed(setFrom)} />
          <MomentField label="To" name="to" value={to} onInput={changed(setTo)} />
          <SelectField
            label="What"
            name="status"
            value={status}
            options={kinds}
            onChoose={changed(setStatus)}
          />
          <TextField
            label="Tracking id (optional)"
            name="trackingId"
            value={trackingId}
            onInput={changed(setTrackingId)}
            spellcheck={false}
            autocomplete="off"
          />
        </div>
        <FormProblem shown={['from', 'to', 'status', 'trackingId']} />
        <div class="actions custom-send">
          <SubmitButton kind="plain">Count</SubmitButton>
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
