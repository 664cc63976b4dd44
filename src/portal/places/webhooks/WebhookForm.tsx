import { useState } from 'preact/hooks';
import type { Webhook, WebhookWithSecret } from '../../../client/api/types.js';
import { call } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Dialog } from '../../parts/Dialog.js';
import { Field, Form, FormProblem, TextField, useIsSending } from '../../parts/Form.js';
import { HeaderFields, toHeaders, toRows } from './HeaderFields.js';
import { Interests } from './Interests.js';

interface WebhookFormProps {
  /** The webhook to change; undefined creates one. */
  webhook?: Webhook;
  onSaved: (webhook: Webhook | WebhookWithSecret) => unknown;
  onClose: () => void;
}

/** Creates or changes a webhook. A change sends only the fields that differ. */
export function WebhookForm({ webhook, onSaved, onClose }: WebhookFormProps) {
  const [values, setValues] = useState({
    targetAddress: webhook?.targetAddress ?? '',
    description: webhook?.description ?? '',
    interests: webhook?.interests ?? ['*'],
    ordering: webhook?.ordering ?? ('SHIPMENT' as const),
    supersede: webhook?.supersede ?? false,
  });
  const [rows, setRows] = useState(() => toRows(webhook?.headers ?? {}));
  const set = (changes: Partial<typeof values>) => setValues((before) => ({ ...before, ...changes }));

  const save = async () => {
    const wanted = { ...values, targetAddress: values.targetAddress.trim(), headers: toHeaders(rows) };
    if (!webhook) {
      await onSaved(await call<WebhookWithSecret>('POST', '/v1/webhooks', wanted));
      return;
    }
    const changes = Object.entries(wanted).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(webhook[name as keyof typeof wanted]),
    );
    if (changes.length > 0)
      await onSaved(
        await call<Webhook>('PATCH', `/v1/webhooks/${webhook.webhookId}`, Object.fromEntries(changes)),
      );
    onClose();
  };

  return (
    <Dialog title={webhook ? 'Edit webhook' : 'New webhook'} onClose={onClose} isWide>
      <Form onSubmit={save}>
        <TextField
          label="Address"
          name="targetAddress"
          type="url"
          hint="Notifications are sent there by POST."
          placeholder="https://example.com/hooks/parcelhook"
          value={values.targetAddress}
          onInput={(targetAddress) => set({ targetAddress })}
          spellcheck={false}
          required
          autofocus
        />
        <TextField
          label="Description"
          name="description"
          hint="A name to show instead of the address, such as Production."
          value={values.description}
          onInput={(description) => set({ description })}
        />
        <Interests chosen={values.interests} onChange={(interests) => set({ interests })} />
        <Field label="Order" name="ordering" hint={orderingHints[values.ordering]}>
          {(control) => (
            <select
              {...control}
              value={values.ordering}
              onChange={(event) => set({ ordering: event.currentTarget.value as 'SHIPMENT' | 'NONE' })}
            >
              <option value="SHIPMENT">In order within a shipment</option>
              <option value="NONE">Each as soon as possible</option>
            </select>
          )}
        </Field>
        <label class="check">
          <input
            type="checkbox"
            checked={values.supersede}
            onChange={(event) => set({ supersede: event.currentTarget.checked })}
          />
          Skip a state that is still undelivered when a later one is recorded
        </label>
        <HeaderFields rows={rows} onChange={setRows} />
        <FormProblem shown={['targetAddress', 'description', 'interests', 'ordering', 'headers']} />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <SaveButton isNew={!webhook} />
        </footer>
      </Form>
    </Dialog>
  );
}

const SaveButton = ({ isNew }: { isNew: boolean }) => (
  <Button type="submit" kind="primary" isBusy={useIsSending()}>
    {isNew ? 'Create webhook' : 'Save'}
  </Button>
);

const orderingHints = {
  SHIPMENT: 'The states of one shipment come one at a time. If one fails, the next is held.',
  NONE: 'States of one shipment may overtake each other.',
};
