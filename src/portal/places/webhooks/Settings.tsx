import type { Webhook } from '../../../client/api/types.js';
import { Id } from '../../parts/Id.js';
import { wordOf } from '../../words.js';
import { Time } from '../../parts/Time.js';

/** The settings as they are; Edit changes them. */
export function Settings({ webhook }: { webhook: Webhook }) {
  const headers = Object.keys(webhook.headers);
  return (
    <section class="panel" aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      <dl class="facts">
        <dt>Address</dt>
        <dd>
          <code>{webhook.targetAddress}</code>
        </dd>
        <dt>States</dt>
        <dd>{webhook.interests.map((name) => (name === '*' ? 'All' : wordOf(name))).join(', ')}</dd>
        {webhook.unknownInterests.length > 0 && (
          <>
            <dt>Unknown states</dt>
            <dd>{webhook.unknownInterests.join(', ')}</dd>
          </>
        )}
        <dt>Order</dt>
        <dd>{webhook.ordering === 'SHIPMENT' ? 'In order within a shipment' : 'Each as soon as possible'}</dd>
        <dt>Undelivered states</dt>
        <dd>{webhook.supersede ? 'Skipped when a later one is recorded' : 'All sent'}</dd>
        <dt>Headers</dt>
        <dd>
          {headers.length === 0
            ? 'None'
            : headers.map((name) => (
                <code class="header-name" key={name}>
                  {name}
                </code>
              ))}
        </dd>
        <dt>Created</dt>
        <dd>
          <Time at={webhook.createdAt} />
        </dd>
        <dt>Changed</dt>
        <dd>
          <Time at={webhook.updatedAt} />
        </dd>
        <dt>Id</dt>
        <dd>
          <Id id={webhook.webhookId} label="Copy the webhook's id" />
        </dd>
      </dl>
    </section>
  );
}
