import { useState } from 'preact/hooks';
import { diagnose, type Diagnosis, type Finding } from '../../../client/diagnose.js';
import { Field, Form, MomentField, SubmitButton, TextField } from '../../parts/Form.js';
import { Fact, PageHead } from '../../parts/Page.js';

const secretField = { class: 'code-input', spellcheck: false, autocomplete: 'off' };

/**
 * Says why a notification does not verify. It runs here alone: the values are in this component and nowhere else, neither
 * in the address nor in a store, and no request is made.
 */
export function Doctor() {
  const [headers, setHeaders] = useState('');
  const [body, setBody] = useState<string | Uint8Array>('');
  const [fileName, setFileName] = useState('');
  const [secret, setSecret] = useState('');
  const [previousSecret, setPreviousSecret] = useState('');
  const [computed, setComputed] = useState('');
  const [arrivedAt, setArrivedAt] = useState('');
  const [diagnosis, setDiagnosis] = useState<Diagnosis | null>(null);

  const isEmpty = headers.trim() === '' && body.length === 0 && secret.trim() === '';
  const run = async () => {
    const now = arrivedAt ? new Date(arrivedAt) : new Date();
    setDiagnosis(await diagnose({ headers, rawBody: body, secret, previousSecret, computed, now }));
  };
  const readFile = async (file: File | undefined) => {
    setFileName(file?.name ?? '');
    setBody(file ? new Uint8Array(await file.arrayBuffer()) : '');
  };

  return (
    <>
      <PageHead title="Signature doctor">
        Paste a request that does not verify, and see why. Nothing that you paste leaves this page.
      </PageHead>
      <div class="doctor">
        <Form onSubmit={run}>
          <Field label="Headers" name="headers" hint="As they arrived: lines, JSON, or a curl command.">
            {(control) => (
              <textarea
                {...control}
                {...secretField}
                rows={6}
                placeholder={'webhook-id: …\nwebhook-timestamp: …\nwebhook-signature: v1,…'}
                value={headers}
                onInput={(event) => setHeaders(event.currentTarget.value)}
              />
            )}
          </Field>
          {fileName === '' ? (
            <Field label="Raw body" name="body" hint="Exactly as it arrived, before anything parsed it.">
              {(control) => (
                <textarea
                  {...control}
                  {...secretField}
                  rows={7}
                  value={body as string}
                  onInput={(event) => setBody(event.currentTarget.value)}
                />
              )}
            </Field>
          ) : (
            <p>
              The body is the file <code class="long">{fileName}</code>, {body.length} bytes.{' '}
              <button type="button" class="link" onClick={() => void readFile(undefined)}>
                Paste it instead
              </button>
            </p>
          )}
          <TextField
            label="Secret"
            name="secret"
            hint="The one that your server verifies with."
            placeholder="whsec_…"
            value={secret}
            onInput={setSecret}
            {...secretField}
          />
          <details>
            <summary>More to go on</summary>
            <div class="form">
              <Field
                label="Body from a file"
                name="file"
                hint="A text field may change line breaks; a file does not."
              >
                {(control) => (
                  <input
                    {...control}
                    type="file"
                    onChange={(event) => void readFile(event.currentTarget.files?.[0])}
                  />
                )}
              </Field>
              <TextField
                label="Secret before the last rotation"
                name="previousSecret"
                value={previousSecret}
                onInput={setPreviousSecret}
                {...secretField}
              />
              <TextField
                label="Signature that your own code computed"
                name="computed"
                value={computed}
                onInput={setComputed}
                {...secretField}
              />
              <MomentField
                label="When the request arrived"
                name="arrivedAt"
                hint="Empty means just now. A timestamp may be up to 5 minutes off."
                value={arrivedAt}
                onInput={setArrivedAt}
              />
            </div>
          </details>
          <p class="actions">
            <SubmitButton>Diagnose</SubmitButton>
          </p>
        </Form>
        <section class="panel" aria-labelledby="diagnosis-title" aria-live="polite">
          <h2 id="diagnosis-title">Diagnosis</h2>
          {isEmpty && diagnosis ? (
            <p>Fill in the headers, the body and the secret.</p>
          ) : diagnosis ? (
            <Findings diagnosis={diagnosis} />
          ) : (
            <Before />
          )}
        </section>
      </div>
    </>
  );
}

const Before = () => (
  <>
    <p class="soft">It tries the usual faults, several at once, until a signature matches:</p>
    <ul class="soft faults">
      <li>the secret is wrong, incomplete, or the one before the rotation</li>
      <li>the body was parsed and written again; it shows the first byte that differs</li>
      <li>
        a header is missing, or <code>v1,</code> was left on or cut off
      </li>
      <li>a clock is off</li>
      <li>the headers and the body belong to different requests</li>
    </ul>
  </>
);

function Findings({ diagnosis: { ok, explained, findings } }: { diagnosis: Diagnosis }) {
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
          <Fact name="First difference">at byte {difference.offset}, counted from 0</Fact>
          <Fact name="Your body has">
            <code>{visible(difference.given)}</code>
          </Fact>
          <Fact name="It was sent as">
            <code>{visible(difference.sent)}</code>
          </Fact>
        </dl>
      )}
    </li>
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
