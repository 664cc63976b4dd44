import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ListedWebhook, TestResult, Webhook, WebhookWithSecret } from '../../../client/api/types.js';
import { call, read } from '../../api.js';
import { Button, Choices } from '../../parts/Button.js';
import { Form, FormProblem, SubmitButton, TextField } from '../../parts/Form.js';
import { Code } from '../../parts/Id.js';
import { Loading } from '../../parts/Page.js';
import { announce } from '../../parts/Toast.js';
import { Link, setQuery } from '../../router.js';
import { attemptSentence } from '../../sentences.js';
import { hasGreeting, hasInbox, rememberedKey, session } from '../../session.js';
import { SecretDialog } from '../webhooks/Secret.js';
import { nameOf } from '../webhooks/summary.js';
import { TestForm } from '../webhooks/Test.js';
import { FirstOrder } from './FirstOrder.js';
import { languages, listenCommand, recipeOf, verifySnippets, type Language } from './snippets.js';

/** How far the account has come in the quick start, kept in the browser. It never has a secret. */
interface Progress {
  webhookId: string | null;
  /** The outcome of the test, in words. */
  tested: string;
  isVerified: boolean;
  trackingId: string | null;
  hasOrdered: boolean;
  language: Language;
}

const beginning: Progress = {
  webhookId: null,
  tested: '',
  isVerified: false,
  trackingId: null,
  hasOrdered: false,
  language: languages[0]!,
};

const keyOfProgress = () => `parcelhook.quick-start.${session.value!.shipper.shipperId}`;

function keptProgress(): Progress {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOfProgress()) ?? '{}') as Partial<Progress>;
    const language = languages.find((one) => one === kept.language) ?? beginning.language;
    return { ...beginning, ...kept, language };
  } catch {
    return beginning;
  }
}

/** From a webhook to the user's own server, one step at a time. Steps that are done are folded. */
export function QuickStart({ webhooks, onCreated }: { webhooks: ListedWebhook[]; onCreated: () => unknown }) {
  const [kept, setKept] = useState(keptProgress);
  const [created, setCreated] = useState<WebhookWithSecret | null>(null);
  const [isSecretShown, setIsSecretShown] = useState(false);
  const [inboxAddress, setInboxAddress] = useState('');
  useEffect(() => {
    if (hasInbox) void read<{ address: string }>('/v1/inbox').then(({ address }) => setInboxAddress(address));
  }, []);
  useEffect(() => localStorage.setItem(keyOfProgress(), JSON.stringify(kept)), [kept]);
  const keep = (changes: Partial<Progress>) => setKept((before) => ({ ...before, ...changes }));
  const begin = (webhookId: string | null) => keep({ ...beginning, language: kept.language, webhookId });

  const listed = webhooks.find(({ webhookId }) => webhookId === kept.webhookId);
  const webhook: Webhook | null = listed ?? (created?.webhookId === kept.webhookId ? created : null);
  // The webhook may have been deleted since.
  const { tested, isVerified, trackingId, hasOrdered } = webhook ? kept : beginning;
  const hasSucceeded = Boolean(listed?.health?.lastSuccessAt);
  const isOfInbox = webhook !== null && webhook.targetAddress === inboxAddress;
  const receiver = isOfInbox ? 'Your inbox' : 'Your server';
  const sentenceOf = (result: TestResult) =>
    attemptSentence(result, result.eventId).replace('Your server', receiver);
  const steps = [
    webhook !== null,
    tested !== '' || hasSucceeded,
    webhook !== null && (isVerified || isOfInbox),
    hasOrdered,
    false,
  ];
  const current = steps.indexOf(false);
  const stateOf = (step: number) => (steps[step] ? 'done' : step === current ? 'current' : 'waiting');
  const list = useFocusOn(current, !isSecretShown);
  if (hasInbox && inboxAddress === '') return <Loading />;
  return (
    <>
      <ol class="steps" ref={list}>
        <Step
          title="Create a webhook"
          state={stateOf(0)}
          outcome={webhook && <Created webhook={webhook} />}
          again="Begin again with another"
          onAgain={() => begin(null)}
        >
          <CreateForm
            webhooks={webhooks}
            inboxAddress={inboxAddress}
            onChosen={({ webhookId }) => begin(webhookId)}
            onCreated={async (made) => {
              setCreated(made);
              setIsSecretShown(true);
              begin(made.webhookId);
              setQuery({ start: '1' }); // stays when there is a webhook
              await onCreated();
            }}
          />
        </Step>
        <Step
          title="Send a test"
          state={stateOf(1)}
          outcome={tested || `${receiver} has accepted notifications before.`}
          again="Send another"
        >
          {!isOfInbox && <p>If your server verifies signatures, start it with the secret of step 1 first.</p>}
          {webhook && (
            <TestForm
              webhookId={webhook.webhookId}
              sentenceOf={sentenceOf}
              onSent={(result) => {
                if (result.errorCode !== null || steps[1]) return;
                announce(sentenceOf(result)); // the form, which says so, is folded now
                keep({ tested: sentenceOf(result) });
              }}
            />
          )}
        </Step>
        <Step
          title="Verify the signature"
          state={stateOf(2)}
          outcome={isVerified ? 'Your server verifies it.' : 'The inbox verifies whatever arrives.'}
          again="Show the code"
        >
          <p>
            Every notification is signed with the webhook's secret. Put it into <code>WEBHOOK_SECRET</code>,
            and refuse what does not verify. If something should verify but does not, ask the{' '}
            <Link href="/doctor">signature doctor</Link>.
          </p>
          <LanguageChoice progress={kept} onChange={keep} />
          <Verify language={kept.language} />
          {!isVerified && (
            <p class="actions">
              <Button kind="primary" onClick={() => keep({ isVerified: true })}>
                My server verifies it
              </Button>
            </p>
          )}
        </Step>
        <Step
          title="Place the first order"
          state={stateOf(3)}
          outcome="Its first notification was delivered."
          again="Show its notifications"
        >
          <FirstOrder
            trackingId={trackingId}
            onPlaced={(placed) => keep({ trackingId: placed })}
            onDone={() => keep({ hasOrdered: true })}
          />
        </Step>
        <Step title="Now your own server" state={stateOf(4)}>
          <LanguageChoice progress={kept} onChange={keep} />
          <OwnServer language={kept.language} />
          {webhook && (
            <p>
              {hasGreeting
                ? 'A server on the machine where Parcelhook runs needs no listen: edit '
                : 'Once your server can be reached from the internet, edit '}
              <Link href={`/webhooks/${webhook.webhookId}`}>the webhook</Link>
              {hasGreeting ? ' now, and ' : ', and '}
              give it your server's address.
            </p>
          )}
        </Step>
      </ol>
      {created && isSecretShown && (
        <SecretDialog
          title="Webhook created"
          secret={`WEBHOOK_SECRET=${created.secret}`}
          onClose={() => setIsSecretShown(false)}
        />
      )}
    </>
  );
}

/** Moves the focus to the step that has become the current one. */
function useFocusOn(current: number, isFree: boolean) {
  const list = useRef<HTMLOListElement>(null);
  const last = useRef(current);
  useEffect(() => {
    if (!isFree || last.current === current) return;
    last.current = current;
    list.current?.querySelector<HTMLElement>('[aria-current=step] h2')?.focus();
  }, [current, isFree]);
  return list;
}

interface StepProps {
  title: string;
  children: ComponentChildren;
  state: 'done' | 'current' | 'waiting';
  /** A line that stands for the step once it is done. */
  outcome?: ComponentChildren;
  /** The button that opens it again, or does `onAgain`. */
  again?: string;
  onAgain?: () => void;
}

function Step({ title, children, state, outcome, again, onAgain }: StepProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li class={`step ${state}`} aria-current={state === 'current' ? 'step' : undefined}>
      <h2 tabIndex={-1}>
        {title}
        {state === 'done' && <span class="unseen"> (done)</span>}
      </h2>
      {state === 'done' && (
        <p class="soft long">
          {outcome}{' '}
          <button
            type="button"
            class="link"
            aria-expanded={onAgain ? undefined : isOpen}
            onClick={onAgain ?? (() => setIsOpen(!isOpen))}
          >
            {isOpen ? 'Hide' : again}
          </button>
        </p>
      )}
      {(state === 'current' || (state === 'done' && isOpen)) && children}
    </li>
  );
}

interface CreateFormProps {
  webhooks: ListedWebhook[];
  inboxAddress: string;
  onCreated: (webhook: WebhookWithSecret) => unknown;
  onChosen: (webhook: ListedWebhook) => void;
}

/** Offers the existing webhook of an address that has one: with a second, every notification would come twice. */
function CreateForm({ webhooks, inboxAddress, onCreated, onChosen }: CreateFormProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const targetAddress = typed ?? inboxAddress;
  const existing = webhooks.find((webhook) => webhook.targetAddress === targetAddress.trim());
  const create = async () => {
    if (existing) return onChosen(existing);
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
          onInput={setTyped}
          spellcheck={false}
          required
          hint={
            hasInbox
              ? 'No server yet? This is your inbox: an address of this service that shows what arrives.'
              : 'Every state of a shipment is sent there. You can narrow this down later.'
          }
        />
        <SubmitButton>{existing ? 'Use this webhook' : 'Create webhook'}</SubmitButton>
      </div>
      {existing && (
        <p>
          <Link href={`/webhooks/${existing.webhookId}`}>{nameOf(existing)}</Link> has this address already.
          With a second webhook, every notification would come twice.
        </p>
      )}
      <FormProblem shown={['targetAddress']} />
    </Form>
  );
}

const Created = ({ webhook }: { webhook: Webhook }) => (
  <>
    <Link href={`/webhooks/${webhook.webhookId}`}>{webhook.targetAddress}</Link> gets{' '}
    {webhook.interests.includes('*') ? 'every state' : 'some states'} of your shipments. Its secret was shown
    when it was created. If it is lost, rotate it on the webhook's page.
  </>
);

interface LanguageProps {
  progress: Progress;
  onChange: (changes: Partial<Progress>) => void;
}

const LanguageChoice = ({ progress, onChange }: LanguageProps) => (
  <Choices
    label="Language"
    names={languages}
    chosen={progress.language}
    onChoose={(language) => onChange({ language })}
  />
);

const Recipe = ({ language }: { language: Language }) => (
  <a href={`/docs/receiving#${recipeOf[language]}`}>A receiver in {language}</a>
);

const Verify = ({ language }: { language: Language }) =>
  language in verifySnippets ? (
    <Code
      text={verifySnippets[language as keyof typeof verifySnippets]}
      label={`Copy the ${language} code`}
    />
  ) : (
    <p>
      <Recipe language={language} />, which verifies signatures, is in the documentation.
    </p>
  );

function OwnServer({ language }: { language: Language }) {
  const program = hasGreeting ? 'npm run listen --' : 'npx parcelhook listen';
  const email = session.value!.user?.email ?? '';
  return (
    <>
      <p>
        <Recipe language={language} /> reads the raw body, verifies it and responds. Run it on your own
        machine, on port 9001. From then on <code>listen</code> forwards your account's notifications to it,
        signed, without a webhook or a tunnel:
      </p>
      <Code
        text={listenCommand(program, location.origin, rememberedKey(), email)}
        label="Copy the command"
        wrap
      />
      <p class="soft">
        It asks for your password, and signs with <code>WEBHOOK_SECRET</code>. Where that is not set, it
        prints a secret for your server.{' '}
        {hasGreeting ? (
          'Run it in the folder of Parcelhook. '
        ) : (
          <>
            <code>npx</code> finds it in a project that has the client package.{' '}
          </>
        )}
        <a href="/docs/receiving#on-your-own-machine">More about listen</a>
      </p>
    </>
  );
}
