import { DeliveryBadge } from '../../parts/Page.js';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type {
  ListedWebhook,
  TestResult,
  WebhookWithSecret,
  Delivery,
  DeliveryPage,
  OrderResult,
} from '../../../client/api/types.js';
import { call, read, withQuery } from '../../api.js';
import { Button, Choices } from '../../parts/Button.js';
import { Form, FormProblem, SubmitButton, TextField } from '../../parts/Form.js';
import { Code } from '../../parts/Id.js';
import { Link, setQuery } from '../../router.js';
import { hasInbox, rememberedKey, session } from '../../session.js';
import { verifySnippets, orderCommand } from './snippets.js';
import { nameOf } from '../webhooks/summary.js';
import { TestForm } from '../webhooks/Test.js';
import { sampleOrder } from '../../../roles/greeting.js';
import { wordOf } from '../../words.js';
import { Time } from '../../parts/Time.js';
import { announce } from '../../parts/Toast.js';
import { useRead } from '../../poll.js';
import { VerifiedBadge } from '../inbox/Arrival.js';
import { useInbox, type Item } from '../inbox/contents.js';

/** A webhook that was just created has its secret; an earlier one has its health. */
type Chosen = WebhookWithSecret | ListedWebhook;

/** A webhook to create or to go on with, a test, the check of its signature, an order. Each step works once it can. */
export function QuickStart({ webhooks, onCreated }: { webhooks: ListedWebhook[]; onCreated: () => unknown }) {
  const [webhook, setWebhook] = useState<Chosen | null>(null);
  const [result, setResult] = useState<TestResult | null>(null);
  const [isVerified, setVerified] = useState(false);
  const [isDelivered, setDelivered] = useState(false);
  const isTested = result ? result.errorCode === null : hasSucceeded(webhook);
  const created = async (created: WebhookWithSecret) => {
    setWebhook(created);
    setQuery({ start: '1' }); // stays when there is a webhook
    await onCreated();
  };
  return (
    <ol class="steps">
      <Step title="Create a webhook" isDone={webhook !== null}>
        {webhook ? (
          <Created webhook={webhook} />
        ) : (
          <CreateForm webhooks={webhooks} onCreated={created} onChosen={setWebhook} />
        )}
      </Step>
      <Step title="Send a test" isDone={isTested} isWaiting={!webhook}>
        {webhook ? (
          <TestForm webhookId={webhook.webhookId} onSent={setResult} />
        ) : (
          <p class="soft">See at once what your server responds.</p>
        )}
      </Step>
      <Step title="Verify the signature" isDone={isVerified} isWaiting={!isTested && !isVerified}>
        <p>
          Every notification is signed with the webhook's secret. Put it into <code>WEBHOOK_SECRET</code>, and
          refuse what does not verify. If something should verify but does not, ask the{' '}
          <Link href="/doctor">signature doctor</Link>.
        </p>
        <Snippets />
        {!isVerified && (
          <p class="actions">
            <Button onClick={() => setVerified(true)}>My server verifies it</Button>
          </p>
        )}
      </Step>
      <Step title="Place the first order" isDone={isDelivered} isWaiting={!webhook}>
        <FirstOrder onDelivered={() => setDelivered(true)} onVerified={() => setVerified(true)} />
      </Step>
    </ol>
  );
}

const hasSucceeded = (webhook: Chosen | null) =>
  webhook !== null && 'health' in webhook && Boolean(webhook.health?.lastSuccessAt);

interface StepProps {
  title: string;
  children: ComponentChildren;
  isDone?: boolean;
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

interface CreateFormProps {
  webhooks: ListedWebhook[];
  onCreated: (webhook: WebhookWithSecret) => unknown;
  onChosen: (webhook: ListedWebhook) => void;
}

/** Offers the existing webhook of an address that has one: with a second, every notification would come twice. */
function CreateForm({ webhooks, onCreated, onChosen }: CreateFormProps) {
  const [targetAddress, setTargetAddress] = useState('');
  const existing = webhooks.find((webhook) => webhook.targetAddress === targetAddress.trim());
  useEffect(() => {
    if (!hasInbox) return;
    void read<{ address: string }>('/v1/inbox').then(({ address }) =>
      setTargetAddress((typed) => typed || address),
    );
  }, []);
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
          onInput={setTargetAddress}
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

const Created = ({ webhook }: { webhook: Chosen }) => (
  <>
    <p class="long">
      <Link href={`/webhooks/${webhook.webhookId}`}>{webhook.targetAddress}</Link> gets{' '}
      {webhook.interests.includes('*') ? 'every state' : 'some states'} of your shipments.
    </p>
    {'secret' in webhook ? (
      <>
        <p>
          This is its secret. Store it now: <strong>it will not be shown again.</strong>
        </p>
        <Code text={`WEBHOOK_SECRET=${webhook.secret}`} label="Copy the secret" wrap />
      </>
    ) : (
      <p>Its secret was shown when it was created. If it is lost, the webhook's page makes a new one.</p>
    )}
  </>
);

const languages = Object.keys(verifySnippets) as (keyof typeof verifySnippets)[];

function Snippets() {
  const [language, setLanguage] = useState(languages[0]!);
  return (
    <div>
      <Choices label="Language" names={languages} chosen={language} onChoose={setLanguage} />
      <Code text={verifySnippets[language]} label={`Copy the ${language} code`} />
    </div>
  );
}

interface Outcomes {
  onDelivered: () => void;
  onVerified: () => void;
}

/** Places the sample order, and shows its notifications as they are sent. */
function FirstOrder(outcomes: Outcomes) {
  const [order] = useState(() => sampleOrder(Date.now()));
  const [placed, setPlaced] = useState<OrderResult | null>(null);
  const [isUnderWay, setIsUnderWay] = useState(false);
  const place = async () => {
    setPlaced(await call<OrderResult>('POST', '/v1/shipments', order));
    setIsUnderWay(false);
  };
  const simulate = async () => {
    await call('POST', `/v1/shipments/${placed!.trackingId}/simulate`, {});
    setIsUnderWay(true);
  };
  return (
    <>
      <p>An order becomes a shipment. Each of its states is a notification, and CREATED comes at once.</p>
      <p class="actions">
        <Button kind={placed ? 'plain' : 'primary'} onClick={place}>
          {placed ? 'Place another' : 'Place the sample order'}
        </Button>
        {placed && session.value!.features.simulate && (
          <Button kind={isUnderWay ? 'plain' : 'primary'} disabled={isUnderWay} onClick={simulate}>
            Simulate its states
          </Button>
        )}
      </p>
      {placed && <Notifications key={placed.trackingId} trackingId={placed.trackingId} {...outcomes} />}
      <details>
        <summary>The same with curl</summary>
        <Code
          text={orderCommand(location.origin, rememberedKey(), session.value!.user?.email ?? '', order)}
          label="Copy the commands"
        />
      </details>
    </>
  );
}

const useArrivals = hasInbox ? useInbox : () => ({ data: undefined });

function Notifications({ trackingId, onDelivered, onVerified }: { trackingId: string } & Outcomes) {
  const path = withQuery('/v1/deliveries', { trackingId, limit: 50 });
  const { data } = useRead<DeliveryPage>(path, 1_000);
  const deliveries = data?.deliveries.toReversed() ?? [];
  const sent = deliveries.filter(({ status }) => status === 'SUCCEEDED').length;
  const { data: inbox } = useArrivals();
  const itemOf = ({ eventId, targetAddress }: Delivery) =>
    targetAddress === inbox?.address
      ? inbox.items.find(({ headers }) => headers['webhook-id'] === eventId)
      : undefined;
  const isVerified = deliveries.some((delivery) => itemOf(delivery)?.verified);
  useEffect(() => {
    if (sent === 0) return;
    announce(`${sent} ${sent === 1 ? 'notification' : 'notifications'} delivered`);
    onDelivered();
  }, [sent]);
  useEffect(() => {
    if (isVerified) onVerified();
  }, [isVerified]);
  return (
    <div class="arrivals">
      <p>
        Shipment{' '}
        <Link href={`/shipments/${trackingId}`}>
          <code>{trackingId}</code>
        </Link>
        {hasInbox && (
          <>
            {' '}
            · <Link href="/inbox">what arrived in the inbox</Link>
          </>
        )}
      </p>
      <ul>
        {deliveries.map((delivery) => (
          <Arrival key={delivery.deliveryId} delivery={delivery} item={itemOf(delivery)} />
        ))}
      </ul>
      {deliveries.length === 0 && <p class="soft">Waiting for its first notification…</p>}
      {sent > 0 && (
        <p>
          <strong>Done.</strong>{' '}
          {isVerified ? 'Your inbox verified a notification.' : 'Your server accepted a notification.'}
        </p>
      )}
    </div>
  );
}

/** `item` is what arrived in the inbox, which verifies it. */
const Arrival = ({ delivery, item }: { delivery: Delivery; item: Item | undefined }) => (
  <li>
    {item ? <VerifiedBadge item={item} /> : <DeliveryBadge delivery={delivery} />}
    <Link href={`/deliveries/${delivery.deliveryId}`}>{wordOf(delivery.state)}</Link>
    <span class="soft cut" title={delivery.targetAddress}>
      {delivery.targetAddress}
    </span>
    <span class="soft">
      <Time at={delivery.createdAt} />
    </span>
  </li>
);
