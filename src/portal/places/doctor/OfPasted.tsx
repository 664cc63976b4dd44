import { useState } from 'preact/hooks';
import { diagnose, type Diagnosis } from '../../../client/diagnose.js';
import { Field, Form, MomentField, SubmitButton, TextField } from '../../parts/Form.js';
import { PageHead } from '../../parts/Page.js';
import { Findings } from './Findings.js';

export const secretField = { class: 'code-input', spellcheck: false, autocomplete: 'off' };

interface Props {
  note?: string;
  /** The fields' first values. */
  given?: { headers: string; secret: string; arrivedAt: string };
}

/** Diagnoses what is pasted. */
export function OfPasted({ note, given }: Props) {
  const [headers, setHeaders] = useState(given?.headers ?? '');
  const [body, setBody] = useState<string | Uint8Array>('');
  const [fileName, setFileName] = useState('');
  const [secret, setSecret] = useState(given?.secret ?? '');
  const [previousSecret, setPreviousSecret] = useState('');
  const [computed, setComputed] = useState('');
  const [arrivedAt, setArrivedAt] = useState(given?.arrivedAt ?? '');
  const [diagnosis, setDiagnosis] = useState<Diagnosis | null>(null);

  const isEmpty = headers.trim() === '' && body.length === 0 && secret.trim() === '';
  const run = async () => {
    const now = arrivedAt ? new Date(arrivedAt) : new Date();
    // A whole request may be pasted as its body.
    const isWhole = headers.trim() === '' && typeof body === 'string' && /webhook.signature/i.test(body);
    const pasted = isWhole ? { headers: body, rawBody: '' } : { headers, rawBody: body };
    setDiagnosis(await diagnose({ ...pasted, secret, previousSecret, computed, now }));
  };
  const readFile = async (file: File | undefined) => {
    setFileName(file?.name ?? '');
    setBody(file ? new Uint8Array(await file.arrayBuffer()) : '');
  };

  return (
    <>
      <PageHead title="Signature doctor">
        {note ?? 'Paste a request that does not verify, and see why.'} Nothing that you paste leaves this
        page.
      </PageHead>
      <div class="doctor">
        <Form onSubmit={run}>
          <Field
            label="Headers"
            name="headers"
            hint="As your console, log or debugger shows them: lines, JSON, a dict or a map, a curl command."
          >
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
            <Field
              label="Raw body"
              name="body"
              hint="Exactly as it arrived, before anything parsed it; or its bytes as Base64, hex or a hex dump."
            >
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
