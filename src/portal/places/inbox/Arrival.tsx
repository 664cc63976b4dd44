import { Code, Copy } from '../../parts/Id.js';
import { Fact, StatusBadge } from '../../parts/Page.js';
import { wordOf } from '../../words.js';
import { Time } from '../../parts/Time.js';
import { readBody, type Item } from './contents.js';

const responses: Record<Exclude<Item['answered'], '200'>, string> = {
  '500': 'responded 500',
  '410': 'responded 410',
  '503': 'responded 503: twenty others are waiting for their timeout',
  TIMEOUT: 'no response',
  RESET: 'connection reset',
};

/** The signature doctor takes them like this. */
const headerLines = (headers: Item['headers']) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

export const VerifiedBadge = ({ item }: { item: Item }) => (
  <StatusBadge status={item.verified ? 'SUCCEEDED' : 'FAILED'}>
    {item.verified ? 'Verified' : 'Not verified'}
  </StatusBadge>
);

/** One request: what it says in a line; its headers and body on demand. */
export function Arrival({ item }: { item: Item }) {
  const { state, trackingId, pretty } = readBody(item.body);
  const attempt = item.headers['parcelhook-attempt'];
  return (
    <li>
      <details>
        <summary>
          <span class="arrived-state">{state === null ? 'Not a notification' : wordOf(state)}</span>
          {trackingId && <code class="long">{trackingId}</code>}
          <VerifiedBadge item={item} />
          {Number(attempt) > 1 && <span class="soft">attempt {attempt}</span>}
          {item.answered !== '200' && <StatusBadge status="HELD">{responses[item.answered]}</StatusBadge>}
          <span class="soft">
            <Time at={item.receivedAt} />
          </span>
        </summary>
        {item.problem && <p class="problem">{item.problem}</p>}
        <div class="section-head">
          <h3>Headers</h3>
          <Copy text={headerLines(item.headers)} label="Copy the headers" />
        </div>
        <dl class="facts">
          {Object.entries(item.headers).map(([name, value]) => (
            <Fact key={name} name={<code>{name}</code>}>
              <code>{value}</code>
            </Fact>
          ))}
        </dl>
        <h3>Body</h3>
        <Code text={pretty} copied={item.body} label="Copy the body as it arrived" wrap />
      </details>
    </li>
  );
}
