import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { TestResult, WebhookWithSecret } from '../../../client/api/types.js';
import { call } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Form, FormProblem, TextField, useIsSending } from '../../parts/Form.js';
import { Code } from '../../parts/Id.js';
import { Link, setQuery } from '../../router.js';
import { hasInbox } from '../../features.js';
import { FirstOrder } from './FirstOrder.js';
import { verifySnippets } from './snippets.js';
import { TestForm } from '../webhooks/Test.js';

/** The empty state: create a webhook, test it, verify, place an order. Each step works at once, in any order it can. */
export function QuickStart({ onCreated }: { onCreated: () => unknown }) {
  const [webhook, setWebhook] = useState<WebhookWithSecret | null>(null);
  const [result, setResult] = useState<TestResult | null>(null);
  const created = async (created: WebhookWithSecret) => {
    setWebhook(created);
    setQuery({ start: '1' }); // stays when there is a webhook
    await onCreated();
  };
  return (
    <ol class="steps">
      <Step title="Create a webhook" isDone={webhook !== null}>
        {webhook ? <Created webhook={webhook} /> : <CreateForm onCreated={created} />}
      </Step>
      <Step title="Send a test" isDone={result?.errorCode === null} isWaiting={!webhook}>
        {webhook ? (
          <TestForm webhookId={webhook.webhookId} onSent={setResult} />
        ) : (
          <p class="soft">See at once what your server responds.</p>
        )}
      </Step>
      <Step title="Verify the signature">
        <p>
          Every notification is signed with the webhook's secret. Put it into <code>WEBHOOK_SECRET</code>, and
          refuse what does not verify. If something should verify but does not, ask the{' '}
          <Link href="/doctor">signature doctor</Link>.
        </p>
        <Snippets />
      </Step>
      <Step title="Place the first order" isWaiting={!webhook}>
        <FirstOrder />
      </Step>
    </ol>
  );
}

interface StepProps {
  title: string;
  children: ComponentChildren;
  isDone?: boolean;
  /** It makes sense after the step before. */
  isWaiting?: boolean;
}

const Step = ({ title, children, isDone = false, isWaiting = false }: StepProps) => (
  <li class={`step ${isDone ? 'done' : ''} ${isWaiting ? 'waiting' : ''}`}>
    <h2>
      {title}
      {isDone && <span class="unseen"> (done)</span>}
    </h2>
    {children}
  </li>
);

function CreateForm({ onCreated }: { onCreated: (webhook: WebhookWithSecret) => unknown }) {
  const [targetAddress, setTargetAddress] = useState('');
  useEffect(() => {
    if (!hasInbox) return;
    void call<{ address: string }>('GET', '/v1/inbox').then(({ address }) =>
      setTargetAddress((typed) => typed || address),
    );
  }, []);
  const create = async () => {
    const wanted = { targetAddress: targetAddress.trim(), interests: ['*'] };
    await onCreated(await call<WebhookWithSecret>('POST', '/v1/webhooks', wanted));
  };
  return (
    <Form onSubmit={create}>
      <div class="field-and-button">
        <TextField
          label="Address of your server"
          name="targetAddress"
          type="url"
          placeholder="https://example.com/hooks/parcelhook"
          value={targetAddress}
          onInput={setTargetAddress}
          spellcheck={false}
          required
          hint={
            hasInbox
              ? 'No server yet? This is your inbox: an address of this service that shows what arrives.'
              : 'Every state of a shipment is sent there. You can narrow this down later.'
          }
        />
        <CreateButton />
      </div>
      <FormProblem shown={['targetAddress']} />
    </Form>
  );
}

const CreateButton = () => (
  <Button type="submit" kind="primary" isBusy={useIsSending()}>
    Create webhook
  </Button>
);

const Created = ({ webhook }: { webhook: WebhookWithSecret }) => (
  <>
    <p class="long">
      <Link href={`/webhooks/${webhook.webhookId}`}>{webhook.targetAddress}</Link> gets every state of your
      shipments.
    </p>
    <p>
      This is its secret. Store it now: <strong>it will not be shown again.</strong>
    </p>
    <Code text={`WEBHOOK_SECRET=${webhook.secret}`} label="Copy the secret" wrap />
  </>
);

function Snippets() {
  const [language, setLanguage] = useState<keyof typeof verifySnippets>('Node.js');
  return (
    <div>
      <div class="choices" role="group" aria-label="Language">
        {(Object.keys(verifySnippets) as (keyof typeof verifySnippets)[]).map((name) => (
          <button
            key={name}
            type="button"
            class="choice"
            aria-pressed={name === language}
            onClick={() => setLanguage(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <Code text={verifySnippets[language]} label={`Copy the ${language} code`} />
    </div>
  );
}
