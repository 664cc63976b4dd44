import { useState } from 'preact/hooks';
import type { CreatedToken, ListedWebhook, NewToken } from '../../../client/api/types.js';
import { call } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Dialog } from '../../parts/Dialog.js';
import {
  Form,
  FormProblem,
  MomentField,
  SelectField,
  SubmitButton,
  TextField,
  useFieldError,
} from '../../parts/Form.js';
import { shortNameOf } from '../webhooks/summary.js';

interface TokenFormProps {
  webhooks: ListedWebhook[];
  onCreated: (created: CreatedToken) => unknown;
  onClose: () => void;
}

type Scope = NewToken['scopes'][number];

/** Makes a token; the response alone shows it. */
export function TokenForm({ webhooks, onCreated, onClose }: TokenFormProps) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<Scope[]>([]);
  const [webhookId, setWebhookId] = useState('');
  const [expiresAt, setExpiresAt] = useState('');
  const create = async () => {
    const body: NewToken = {
      name,
      scopes: scopes.filter((scope) => isAllowed(scope, webhookId)),
      ...(webhookId && { webhookId }),
      ...(expiresAt && { expiresAt }),
    };
    await onCreated(await call<CreatedToken>('POST', '/v1/tokens', body));
  };
  return (
    <Dialog title="New token" onClose={onClose}>
      <Form onSubmit={create}>
        <TextField
          label="Name"
          name="name"
          hint="The program that gets it, such as Shop."
          value={name}
          onInput={setName}
          maxLength={100}
          required
          autofocus
        />
        {webhooks.length > 0 && (
          <SelectField
            label="Webhooks"
            name="webhookId"
            hint={webhookId && 'A token for one webhook places no orders.'}
            value={webhookId}
            options={webhooks.map((webhook) => [webhook.webhookId, `Only ${shortNameOf(webhook)}`] as const)}
            onChoose={setWebhookId}
          >
            <option value="">Every one</option>
          </SelectField>
        )}
        <Scopes chosen={scopes} webhookId={webhookId} onChange={setScopes} />
        <MomentField
          label="Expires"
          name="expiresAt"
          hint="Empty: never. It can be revoked at any time."
          value={expiresAt}
          onInput={setExpiresAt}
        />
        <FormProblem shown={['name', 'scopes', 'webhookId', 'expiresAt']} />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton>Create token</SubmitButton>
        </footer>
      </Form>
    </Dialog>
  );
}

const choices: [Scope, string, ofOneWebhook: string | null][] = [
  ['orders', 'Place orders; list, track, simulate and cancel shipments', null],
  [
    'webhooks',
    'Create and change webhooks; see, resend and replay deliveries',
    'Change the webhook; see, resend and replay its deliveries',
  ],
  ['read', 'Read everything there is, the feed of events too', 'Read the webhook and its deliveries'],
];

const isAllowed = (scope: Scope, webhookId: string) => !webhookId || scope !== 'orders';

interface ScopesProps {
  chosen: Scope[];
  webhookId: string;
  onChange: (scopes: Scope[]) => void;
}

function Scopes({ chosen, webhookId, onChange }: ScopesProps) {
  const refusal = useFieldError('scopes');
  const problem = refusal.startsWith('Must name at least one') ? 'Choose at least one.' : refusal;
  return (
    <fieldset aria-describedby={problem ? 'scopes-error' : undefined}>
      <legend>It may</legend>
      {choices
        .filter(([scope]) => isAllowed(scope, webhookId))
        .map(([scope, text, ofOneWebhook]) => (
          <label class="check" key={scope}>
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              onChange={({ currentTarget: { checked } }) =>
                onChange(checked ? [...chosen, scope] : chosen.filter((other) => other !== scope))
              }
            />
            {webhookId ? ofOneWebhook : text}
          </label>
        ))}
      {problem && (
        <p class="field-error" id="scopes-error">
          {problem}
        </p>
      )}
    </fieldset>
  );
}
