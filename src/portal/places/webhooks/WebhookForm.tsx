import { useEffect, useState } from 'preact/hooks';
import type { Egress as EgressFacts, Webhook, WebhookWithSecret } from '../../../client/api/types.js';
import { call, read } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Dialog } from '../../parts/Dialog.js';
import { Code } from '../../parts/Id.js';
import { Time } from '../../parts/Time.js';
import { Form, FormProblem, SelectField, SubmitButton, TextField, useFieldError } from '../../parts/Form.js';
import { session } from '../../session.js';
import { wordOf } from '../../words.js';
import { useWebhookList } from '../webhook-list.js';
import { notices, useStates } from './catalogue.js';
import { ownNameOf } from './summary.js';

interface WebhookFormProps {
  /** The webhook to change; undefined creates one. */
  webhook?: Webhook;
  onSaved: (webhook: Webhook | WebhookWithSecret) => unknown;
  onClose: () => void;
}

const hrefOf = (address: string) => (URL.canParse(address) ? new URL(address).href : null);

/** Warns, as the API does, of an address that another webhook has: mostly a mistake. Null if none has it. */
function twice(address: string, others: Webhook[]): string | null {
  const whole = hrefOf(address.trim());
  const other = whole && others.find(({ targetAddress }) => hrefOf(targetAddress) === whole);
  return other
    ? `It is also the address of your webhook ${ownNameOf(other) || other.webhookId}, and gets the notifications of each.`
    : null;
}

/** Creates or changes a webhook. A change sends only the fields that differ. */
export function WebhookForm({ webhook, onSaved, onClose }: WebhookFormProps) {
  const [values, setValues] = useState({
    targetAddress: webhook?.targetAddress ?? '',
    description: webhook?.description ?? '',
    interests: webhook?.interests ?? ['*'],
    ordering: webhook?.ordering ?? ('SHIPMENT' as const),
    supersede: webhook?.supersede ?? false,
    maxPerSecond: webhook?.maxPerSecond ?? null,
    notifyEmail: webhook?.notifyEmail ?? null,
  });
  const others = useWebhookList().filter(({ webhookId }) => webhookId !== webhook?.webhookId);
  const [name, setName] = useState('');
  const [rows, setRows] = useState(() => toRows(webhook?.headers ?? {}));
  const set = (changes: Partial<typeof values>) => setValues((before) => ({ ...before, ...changes }));

  const save = async () => {
    const wanted = { ...values, targetAddress: values.targetAddress.trim(), headers: toHeaders(rows) };
    if (!webhook) {
      const named = { ...wanted, name: name.trim() || null };
      await onSaved(await call<WebhookWithSecret>('POST', '/v1/webhooks', named));
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
          hint={twice(values.targetAddress, others) ?? 'Notifications are sent there by POST.'}
          placeholder="https://example.com/hooks/parcelhook"
          value={values.targetAddress}
          onInput={(targetAddress) => set({ targetAddress })}
          spellcheck={false}
          required
          autofocus
        />
        <Egress />
        <TextField
          label="Description"
          name="description"
          hint="A label to show instead of the address, such as Production."
          value={values.description}
          onInput={(description) => set({ description })}
        />
        {!webhook && (
          <TextField
            label="Name"
            name="name"
            hint="Your programs find the webhook by this name: up to 64 characters, without /. It is shown instead of the description and cannot be changed later."
            placeholder="orders-production"
            value={name}
            onInput={setName}
            spellcheck={false}
          />
        )}
        <Interests chosen={values.interests} onChange={(interests) => set({ interests })} />
        <SelectField
          label="Order"
          name="ordering"
          hint={orderingHints[values.ordering]}
          value={values.ordering}
          options={Object.entries(orderings)}
          onChoose={(ordering) => set({ ordering: ordering as Webhook['ordering'] })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={values.supersede}
            onChange={(event) => set({ supersede: event.currentTarget.checked })}
          />
          Skip a state that is still undelivered when a later one is recorded
        </label>
        <TextField
          label="At most per second"
          name="maxPerSecond"
          type="number"
          hint="Notifications beyond that wait. Empty: as fast as your server responds."
          min={1}
          max={1_000}
          value={values.maxPerSecond === null ? '' : String(values.maxPerSecond)}
          onInput={(text) => set({ maxPerSecond: text === '' ? null : Number(text) })}
        />
        {session.value?.features.email && (
          <TextField
            label="Tell by e-mail"
            name="notifyEmail"
            type="email"
            hint="When it fails, recovers or is disabled. Somebody who is no user must confirm the address first."
            value={values.notifyEmail ?? ''}
            onInput={(text) => set({ notifyEmail: text.trim() || null })}
          />
        )}
        <HeaderFields rows={rows} onChange={setRows} />
        <FormProblem
          shown={[
            'targetAddress',
            'description',
            'name',
            'interests',
            'ordering',
            'maxPerSecond',
            'notifyEmail',
            'headers',
          ]}
        />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton>{webhook ? 'Save' : 'Create webhook'}</SubmitButton>
        </footer>
      </Form>
    </Dialog>
  );
}

/** The addresses for a server's firewall, and the certificate that it is shown. */
function Egress() {
  const [{ addresses, certificate }, setEgress] = useState<EgressFacts>({ addresses: [] });
  useEffect(() => {
    const leaving = new AbortController();
    // Without it the form does, too.
    read<EgressFacts>('/v1/egress', leaving.signal).then(setEgress, () => undefined);
    return () => leaving.abort();
  }, []);
  return (
    <>
      {addresses.length > 0 && (
        <div class="field">
          <p>If a firewall is in front of it, let these addresses through:</p>
          <Code text={addresses.join('\n')} label="Copy the addresses that notifications come from" />
        </div>
      )}
      {certificate && (
        <div class="field">
          <p>
            If it asks for a client certificate, it is shown this one, which ends{' '}
            <Time at={certificate.validTo} isExact />:
          </p>
          <Code
            text={`${certificate.subject}\nSHA-256 ${certificate.fingerprint256}`}
            label="Copy the client certificate's subject and fingerprint"
            wrap
          />
        </div>
      )}
    </>
  );
}

export const orderings = {
  SHIPMENT: 'In order within a shipment',
  NONE: 'Each as soon as possible',
};

const orderingHints = {
  SHIPMENT: 'The states of one shipment come one at a time. If one fails, the next is held.',
  NONE: 'States of one shipment may overtake each other.',
};

interface HeaderRow {
  /** Identifies the row as long as the form is open. */
  id: number;
  name: string;
  value: string;
}

let lastId = 0;

const toRows = (headers: Record<string, string>): HeaderRow[] =>
  Object.entries(headers).map(([name, value]) => ({ id: ++lastId, name, value }));

/** Rows without a name are left out. */
const toHeaders = (rows: HeaderRow[]): Record<string, string> =>
  Object.fromEntries(
    rows.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]),
  );

/** Headers of the webhook's own. Their values come masked; sent back so, they are kept. */
function HeaderFields({ rows, onChange }: { rows: HeaderRow[]; onChange: (rows: HeaderRow[]) => void }) {
  const problem = useFieldError('headers');
  const change = (id: number, changes: Partial<HeaderRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...changes } : row)));
  return (
    <fieldset aria-describedby={problem ? 'headers-error' : undefined}>
      <legend>Headers sent with each notification</legend>
      {rows.map(({ id, name, value }, index) => (
        <div class="header-row" key={id}>
          <input
            type="text"
            class="code-input"
            aria-label={`Name of header ${index + 1}`}
            placeholder="X-Team"
            value={name}
            onInput={(event) => change(id, { name: event.currentTarget.value })}
            spellcheck={false}
            autocomplete="off"
          />
          <input
            type="text"
            class="code-input"
            aria-label={`Value of header ${index + 1}`}
            value={value}
            onInput={(event) => change(id, { value: event.currentTarget.value })}
            spellcheck={false}
            autocomplete="off"
          />
          <button
            type="button"
            class="close"
            aria-label={`Remove header ${index + 1}`}
            onClick={() => onChange(rows.filter((row) => row.id !== id))}
          >
            ×
          </button>
        </div>
      ))}
      {problem && (
        <p class="field-error" id="headers-error">
          {problem}
        </p>
      )}
      <Button class="small" onClick={() => onChange([...rows, { id: ++lastId, name: '', value: '' }])}>
        Add a header
      </Button>
    </fieldset>
  );
}

const noticeWords: Record<string, string> = {
  WEBHOOK_FAILING: 'Another webhook is failing',
  WEBHOOK_RECOVERED: 'Another webhook has recovered',
  WEBHOOK_DISABLING: 'Another webhook will be disabled',
  WEBHOOK_DISABLED: 'Another webhook was disabled',
  DELIVERY_EXHAUSTED: 'Another webhook’s retries are used up',
};

/** Chooses interests: all states or some of the catalogue, and notices. Names that the catalogue lacks are kept. */
function Interests({ chosen, onChange }: { chosen: string[]; onChange: (interests: string[]) => void }) {
  const catalogue = useStates();
  const refusal = useFieldError('interests');
  const problem = refusal.startsWith('Must name at least one') ? 'Choose at least one state.' : refusal;
  const wantsAll = chosen.includes('*');
  const states = [
    ...new Set([...catalogue, ...chosen.filter((name) => name !== '*' && !notices.includes(name))]),
  ];
  const wantedNotices = chosen.filter((name) => notices.includes(name));
  const toggle = (name: string, isWanted: boolean) =>
    onChange(isWanted ? [...chosen, name] : chosen.filter((other) => other !== name));
  const check = (name: string, word: string) => (
    <label class="check" key={name}>
      <input
        type="checkbox"
        checked={chosen.includes(name)}
        onChange={(event) => toggle(name, event.currentTarget.checked)}
      />
      {word}
    </label>
  );
  return (
    <>
      <fieldset aria-describedby={problem ? 'interests-error' : undefined}>
        <legend>States</legend>
        <div class="choices">
          <label class="check">
            <input
              type="radio"
              name="all"
              checked={wantsAll}
              onChange={() => onChange(['*', ...wantedNotices])}
            />
            All, including those added later
          </label>
          <label class="check">
            <input
              type="radio"
              name="all"
              checked={!wantsAll}
              onChange={() => onChange([...wantedNotices])}
            />
            Only these
          </label>
        </div>
        {!wantsAll && <div class="checks">{states.map((name) => check(name, wordOf(name)))}</div>}
        {problem && (
          <p class="field-error" id="interests-error">
            {problem}
          </p>
        )}
      </fieldset>
      <fieldset>
        <legend>Notices about your other webhooks</legend>
        <div class="checks">{notices.map((name) => check(name, noticeWords[name]!))}</div>
      </fieldset>
    </>
  );
}
