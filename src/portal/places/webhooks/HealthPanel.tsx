import type { ComponentChildren } from 'preact';
import type { WebhookStats, WebhookWithHealth } from '../../../client/api/types.js';
import { withQuery } from '../../api.js';
import { Link } from '../../router.js';
import { Sparkline } from '../../parts/Sparkline.js';
import { Time } from '../../parts/Time.js';
import { attemptsInWords, count, percent, slowest, totalOf, waiting } from './summary.js';

/** The last 24 hours in figures and bars. */
export function HealthPanel({
  webhook,
  stats,
}: {
  webhook: WebhookWithHealth;
  stats: WebhookStats | undefined;
}) {
  const { health } = webhook;
  const hours = stats?.hours ?? [];
  const { attempts, failed, share } = totalOf(hours);
  const first = hours[0];
  return (
    <section class="panel health" aria-labelledby="health-title">
      <h2 id="health-title">Last 24 hours</h2>
      <dl class="figures">
        <Figure name="Success">{share === null ? '–' : percent(share)}</Figure>
        <Figure name="Attempts">{count(attempts)}</Figure>
        <Figure name="Failed">
          <span class={failed > 0 ? 'tone-bad' : ''}>{count(failed)}</span>
        </Figure>
        <Figure name="95 % within">{slowest(hours) || '–'}</Figure>
        <Figure name="Waiting">
          {health.pendingCount === 0 ? (
            0
          ) : (
            <Link href={withQuery('/deliveries', { webhookId: webhook.webhookId })}>
              {waiting(health.pendingCount)}
            </Link>
          )}
        </Figure>
        <Figure name="Last success">
          <Time at={health.lastSuccessAt} />
        </Figure>
      </dl>
      {attempts > 0 && (
        <div class="chart">
          <Sparkline hours={hours} label={attemptsInWords(hours)} />
          <p class="soft">
            <span>{first && <Time at={first.hour} />}</span>
            <span>now</span>
          </p>
        </div>
      )}
      {attempts === 0 && stats && (
        <p class="soft">No attempts. Send a test, or wait for the next state of a shipment.</p>
      )}
      {health.parkedSince && (
        <p class="soft">
          Too many deliveries were waiting. What this webhook has missed since{' '}
          <Time at={health.parkedSince} isExact /> is stored as a position in your events, and becomes
          deliveries, in order, when the webhook is called again.
        </p>
      )}
    </section>
  );
}

const Figure = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
