import { useEffect, useRef, useState } from 'preact/hooks';
import type { Delivery } from '../../../client/api/types.js';
import { call, isApiError } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Dialog } from '../../parts/Dialog.js';
import { Link } from '../../router.js';
import { countText } from '../../units.js';
import { withoutShipment, wordOf } from '../../words.js';
import { useWebhookList, webhookName } from '../webhook-list.js';

interface Props {
  deliveries: Delivery[];
  /** No more can be chosen. */
  maxChosen: number;
  /** Called with those that were not sent. */
  onClose: (unsent: Delivery[]) => void;
}

interface Refused {
  delivery: Delivery;
  message: string;
}

const atOnce = 3;
const counted = (count: number) => countText(count, 'delivery', 'deliveries');

/** Asks, sends the deliveries again, a few at once, and names those that were refused. */
export function SendAgain({ deliveries, maxChosen, onClose }: Props) {
  const [phase, setPhase] = useState<'asking' | 'sending' | 'done'>('asking');
  const [sent, setSent] = useState<Delivery[]>([]);
  const [refused, setRefused] = useState<Refused[]>([]);
  const isStopped = useRef(false);
  const footer = useRef<HTMLElement>(null);
  useEffect(() => () => void (isStopped.current = true), []);
  useEffect(() => {
    if (phase === 'done') footer.current?.querySelector('button')?.focus();
  }, [phase]);
  const waiting = [...deliveries];
  const sendNext = async (): Promise<void> => {
    const delivery = isStopped.current ? undefined : waiting.shift();
    if (!delivery) return;
    try {
      await call('POST', `/v1/deliveries/${delivery.deliveryId}/redeliver`);
      setSent((before) => [...before, delivery]);
    } catch (error) {
      if (!isApiError(error)) throw error;
      setRefused((before) => [...before, { delivery, message: error.message }]);
    }
    return sendNext();
  };
  const send = async () => {
    setPhase('sending');
    await Promise.all(Array.from({ length: atOnce }, sendNext));
    setPhase('done');
  };
  const close = () => onClose(deliveries.filter((one) => !sent.includes(one)));
  const stop = () => void (isStopped.current = true);
  const tried = sent.length + refused.length;
  return (
    <Dialog
      title={`Send ${counted(deliveries.length)} again`}
      onClose={phase === 'sending' ? undefined : close}
    >
      {phase === 'asking' && (
        <p>
          Each gets one attempt now, outside its schedule, even if it has already succeeded.
          {deliveries.length === maxChosen && (
            <>
              {' '}
              At most {maxChosen} are sent at once: <Link href="/recover">Recover</Link> sends all that a
              webhook has missed.
            </>
          )}
        </p>
      )}
      {phase === 'sending' && (
        <progress aria-label="Sending again" value={tried} max={deliveries.length}>
          {tried} of {deliveries.length}
        </progress>
      )}
      <div role="status" class="send-again">
        {phase === 'done' && (
          <>
            <p>{sent.length > 0 ? `${counted(sent.length)} on the way.` : 'None was sent.'}</p>
            {refused.length > 0 && <RefusedList refused={refused} />}
            {tried < deliveries.length && <p>Stopped. Not sent: {deliveries.length - tried}.</p>}
          </>
        )}
      </div>
      <footer ref={footer}>
        <Button onClick={phase === 'sending' ? stop : close}>
          {phase === 'asking' ? 'Cancel' : phase === 'sending' ? 'Stop' : 'Close'}
        </Button>
        {phase !== 'done' && (
          <Button kind="primary" onClick={send} autofocus>
            Send again
          </Button>
        )}
      </footer>
    </Dialog>
  );
}

/** By the reason, which many may share. */
function RefusedList({ refused }: { refused: Refused[] }) {
  const webhooks = useWebhookList();
  const messages = [...new Set(refused.map(({ message }) => message))];
  return (
    <>
      {messages.map((message) => {
        const alike = refused.filter((one) => one.message === message);
        return (
          <div key={message} class="problem">
            <p>
              {counted(alike.length)} refused: {message}
            </p>
            <ul>
              {alike.map(({ delivery }) => (
                <li key={delivery.deliveryId} class="long">
                  {wordOf(delivery.state)} of {delivery.shipperTrackingId ?? withoutShipment(delivery)} to{' '}
                  {webhookName(webhooks, delivery)}
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </>
  );
}
