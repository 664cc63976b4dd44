import { useState } from 'preact/hooks';
import type { DeliveryDetails, WebhookWithHealth } from '../../../client/api/types.js';
import { diagnose, type Diagnosis } from '../../../client/diagnose.js';
import { read, withQuery } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Form, SubmitButton, TextField } from '../../parts/Form.js';
import { Code } from '../../parts/Id.js';
import { LoadError, Loading, PageHead, StatusBadge } from '../../parts/Page.js';
import { Time } from '../../parts/Time.js';
import { useRead, useResource } from '../../poll.js';
import { Link } from '../../router.js';
import { attemptSentence } from '../../sentences.js';
import { wordOf } from '../../words.js';
import { bodySent } from '../deliveries/as-sent.js';
import { useWebhookList, webhookName } from '../webhook-list.js';
import { Findings } from './Findings.js';
import { OfPasted, secretField } from './OfPasted.js';

type Attempt = DeliveryDetails['attempts'][number];

/** The request of an attempt, as the log has it. */
interface Sent {
  delivery: DeliveryDetails;
  attempt: Attempt;
  /** Null where the log has none, or no longer. */
  headers: Record<string, string> | null;
  body: string;
}

/** Of 100 attempts. */
const maxPages = 10;

async function readSent(deliveryId: string, number: number, signal: AbortSignal): Promise<Sent | null> {
  let attemptsCursor: string | null = null;
  for (let page = 0; page < maxPages; page += 1) {
    const address = withQuery(`/v1/deliveries/${encodeURIComponent(deliveryId)}`, { attemptsCursor });
    const delivery: DeliveryDetails = await read<DeliveryDetails>(address, signal);
    const attempt = delivery.attempts.find((one) => one.number === number);
    if (attempt) {
      const headers = attempt.requestHeaders;
      return { delivery, attempt, headers, body: bodySent(delivery.payload, headers?.['content-length']) };
    }
    attemptsCursor = delivery.nextAttemptsCursor;
    if (attemptsCursor === null) break;
  }
  return null;
}

/** Diagnoses an attempt by what was sent in it, and asks for the secret only. */
export function OfAttempt({ deliveryId, number }: { deliveryId: string; number: number }) {
  const [isComparing, setIsComparing] = useState(false);
  const [secret, setSecret] = useState('');
  const { data, error } = useResource((signal) => readSent(deliveryId, number, signal), {
    key: `${deliveryId} ${number}`,
  });
  if (error && !data)
    return (
      <LoadError error={error} isPage>
        The log has no such delivery, or no longer.
      </LoadError>
    );
  if (data === undefined) return <Loading />;
  if (!data?.headers)
    return (
      <OfPasted note="The log has nothing of this attempt's request, or no longer: paste what your server has." />
    );
  const sent = { ...data, headers: data.headers };
  if (isComparing)
    return (
      <OfPasted
        note="The headers and the secret are as before. Paste the body that your server verifies."
        given={{ headers: linesOf(sent.headers), secret, arrivedAt: arrivalOf(sent.attempt) }}
      />
    );
  return (
    <OneQuestion sent={sent} secret={secret} onSecret={setSecret} onCompare={() => setIsComparing(true)} />
  );
}

const linesOf = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** The server's clock tells more than ours, where its response has the time. */
function arrivalOf({ responseHeaders, startedAt }: Attempt): string {
  const date = Date.parse(responseHeaders?.date ?? '');
  return Number.isNaN(date) ? startedAt : new Date(date).toISOString();
}

interface Question {
  sent: Sent & { headers: Record<string, string> };
  secret: string;
  onSecret: (secret: string) => void;
  onCompare: () => void;
}

function OneQuestion({ sent, secret, onSecret, onCompare }: Question) {
  const { delivery, attempt, headers, body } = sent;
  const [diagnosis, setDiagnosis] = useState<Diagnosis | null>(null);
  const name = webhookName(useWebhookList(), delivery);
  const run = async () =>
    setDiagnosis(await diagnose({ headers, rawBody: body, secret, now: new Date(arrivalOf(attempt)) }));
  return (
    <>
      <PageHead title="Signature doctor">
        Is it the signature? Give the secret that your server verifies with. It is compared in this browser,
        and sent nowhere.
      </PageHead>
      <div class="doctor">
        <div class="form">
          <p class="long">
            <StatusBadge status={attempt.errorCode === null ? 'SUCCEEDED' : 'FAILED'}>
              {attempt.statusCode ?? attempt.errorCode}
            </StatusBadge>{' '}
            <Link href={`/deliveries/${delivery.deliveryId}`}>{wordOf(delivery.state)}</Link> to{' '}
            <Link href={`/webhooks/${delivery.webhookId}`}>{name}</Link>, attempt {attempt.number},{' '}
            <Time at={attempt.startedAt} />. {attemptSentence(attempt, delivery.eventId)}
          </p>
          {attempt.responseBody && <Code text={attempt.responseBody} label="Copy the response" wrap />}
          <Form onSubmit={run}>
            <TextField
              label="Secret"
              name="secret"
              hint="Copy it from where your server reads it, such as its environment."
              placeholder="whsec_…"
              value={secret}
              onInput={(text) => {
                onSecret(text);
                setDiagnosis(null);
              }}
              autofocus
              {...secretField}
            />
            <p class="actions">
              <SubmitButton>Diagnose</SubmitButton>
            </p>
          </Form>
          <details>
            <summary>What was sent</summary>
            <Code text={`${linesOf(headers)}\n\n${body}`} label="Copy what was sent" wrap />
          </details>
        </div>
        <section class="panel" aria-labelledby="diagnosis-title" aria-live="polite">
          <h2 id="diagnosis-title">Diagnosis</h2>
          {diagnosis === null ? (
            <p class="soft">
              The headers and the body of this attempt are in the log. With the secret they say whether your
              server has the right one.
            </p>
          ) : (
            <Answer diagnosis={diagnosis} sent={sent} name={name} onCompare={onCompare} />
          )}
        </section>
      </div>
    </>
  );
}

/** Says that the secret of today did not sign the attempt, where that is so. */
function Rotated({
  webhookId,
  deliveryId,
  startedAt,
}: Record<'webhookId' | 'deliveryId' | 'startedAt', string>) {
  const { data } = useRead<WebhookWithHealth>(`/v1/webhooks/${webhookId}`);
  const rotatedAt = data?.secrets.rotatedAt;
  if (!rotatedAt || Date.parse(rotatedAt) <= Date.parse(startedAt)) return null;
  return (
    <p class="verdict warn">
      This attempt was made before the secret was rotated at <Time at={rotatedAt} isExact />.{' '}
      <Link href={`/deliveries/${deliveryId}`}>Send the delivery again</Link>, and diagnose that attempt.
    </p>
  );
}

interface Answered {
  diagnosis: Diagnosis;
  sent: Sent;
  name: string;
  onCompare: () => void;
}

/** The headers and the body are those that were sent: if nothing matches, it is the secret. */
function Answer({ diagnosis, sent: { delivery, attempt }, name, onCompare }: Answered) {
  const { webhookId, deliveryId } = delivery;
  const { ok, explained, findings } = diagnosis;
  const isOther = findings.some(({ cause }) => cause === 'WRONG_SECRET');
  if (isOther)
    return (
      <>
        <Rotated webhookId={webhookId} deliveryId={deliveryId} startedAt={attempt.startedAt} />
        <p class="verdict bad">Wrong secret: another webhook's, or an old one</p>
        <p>
          The request to {name} was not signed with it. Give your server the secret that was shown when this
          webhook was created, or when its secret was last rotated.
        </p>
        <p>
          Nobody can read it again. If you no longer have it,{' '}
          <Link href={`/webhooks/${webhookId}`}>rotate it on the page of the webhook</Link>, and send the
          delivery again.
        </p>
      </>
    );
  return (
    <>
      {ok ? (
        <>
          <p class="verdict good">This is the right secret</p>
          <p>
            The request verifies with it. So your server has another secret than this one, or it changes the
            request before it verifies: mostly, a parser has read the body and written it again.
          </p>
        </>
      ) : (
        <Findings diagnosis={diagnosis} />
      )}
      {explained && (
        <p class="actions">
          <Button onClick={onCompare}>Compare with what your server has</Button>
          <a class="button quiet" href="/docs/receiving">
            How to verify
          </a>
        </p>
      )}
    </>
  );
}
