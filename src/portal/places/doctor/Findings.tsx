import type { Diagnosis, Finding } from '../../../client/diagnose.js';

/** The result: whether it verifies, and each cause with what to do about it. */
export function Findings({ diagnosis: { ok, explained, findings } }: { diagnosis: Diagnosis }) {
  return (
    <>
      <p class={`verdict ${ok ? 'good' : 'bad'}`}>
        {ok
          ? 'It verifies.'
          : explained
            ? 'It does not verify, and this is why:'
            : 'It does not verify. None of the usual faults explains it.'}
      </p>
      {findings.length > 0 && (
        <ol class="findings">
          {findings.map((finding) => (
            <Item key={finding.cause + finding.message} finding={finding} />
          ))}
        </ol>
      )}
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
    <li>
      <p>
        <Prose text={finding.message} />
      </p>
      {!finding.certain && <p class="soft">Likely, not proven.</p>}
      {difference && (
        <dl class="difference">
          <dt>First difference</dt>
          <dd>at byte {difference.offset}, counted from 0</dd>
          <dt>Your body has</dt>
          <dd>
            <code>{visible(difference.given)}</code>
          </dd>
          <dt>It was sent as</dt>
          <dd>
            <code>{visible(difference.sent)}</code>
          </dd>
        </dl>
      )}
    </li>
  );
}

/** Text with `code` in backticks. */
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
