import type { Diagnosis, Finding } from '../../../client/diagnose.js';
import { Fact } from '../../parts/Page.js';

type Cause = Finding['cause'];

const headlines: Record<Cause, string> = {
  NO_HEADERS: 'There are no headers',
  HEADERS_UNREAD: 'The headers could not be read',
  HEADER_UNREAD: 'A header could not be read',
  HEADER_MISSING: 'A header is missing',
  TIMESTAMP_MALFORMED: 'The timestamp was changed',
  CLOCK_OFF: 'The clock is off',
  SECRET_MALFORMED: 'The secret is not as it was issued',
  SIGNATURE_MALFORMED: 'The signature was changed',
  BODY_CHANGED: 'The body is not what was sent',
  BODY_UNREAD: 'The body could not be read',
  BODY_CONSUMED: 'The body is gone',
  WRONG_COMPUTATION: 'Your code computes it differently',
  ID_ALTERED: 'webhook-id was changed',
  OTHER_DELIVERY: 'Headers and body are of different requests',
  PREVIOUS_SECRET: 'The secret is an old one',
  WRONG_SECRET: "Most likely another webhook's secret, or an old one",
  ROTATION_UNDER_WAY: 'The secret is an old one, which still signs',
  SECRET_WITHOUT_PREFIX: 'The secret has no whsec_',
};

const notRead: readonly Cause[] = ['HEADERS_UNREAD', 'HEADER_UNREAD', 'BODY_UNREAD'];

/** A headline for each cause, and what to do about it. */
export function Findings({ diagnosis: { ok, findings } }: { diagnosis: Diagnosis }) {
  const causes = [...new Set(findings.map(({ cause }) => cause))];
  return (
    <>
      {ok && <p class="verdict good">It verifies.</p>}
      {causes.map((cause) => (
        <div class="finding" key={cause}>
          <p class={`verdict ${ok || notRead.includes(cause) ? 'warn' : 'bad'}`}>{headlines[cause]}</p>
          {findings
            .filter((finding) => finding.cause === cause)
            .map((finding) => (
              <Item key={finding.message} finding={finding} />
            ))}
        </div>
      ))}
      {ok && findings.length === 0 && (
        <p class="soft">
          The secret, body, headers and time all fit. If your server refuses the request, look for the fault
          in its code.
        </p>
      )}
    </>
  );
}

function Item({ finding }: { finding: Finding }) {
  const difference = finding.cause === 'BODY_CHANGED' ? finding.difference : null;
  return (
    <>
      <p>
        <Prose text={finding.message} />
      </p>
      {difference && (
        <dl class="difference">
          <Fact name="First difference">at byte {difference.offset}, counted from 0</Fact>
          <Fact name="Your body has">
            <code>{visible(difference.given)}</code>
          </Fact>
          <Fact name="It was sent as">
            <code>{visible(difference.sent)}</code>
          </Fact>
        </dl>
      )}
    </>
  );
}

const Prose = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
);

/** Shows white space that makes the difference. */
const visible = (text: string): string =>
  text === ''
    ? '(nothing)'
    : text
        .replaceAll('\r', '\\r')
        .replaceAll('\n', '\\n')
        .replaceAll('\t', '\\t')
        .replaceAll('\uFEFF', '(BOM)');
