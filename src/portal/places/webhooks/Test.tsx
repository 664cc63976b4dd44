import { DiagnoseLink, StatusBadge } from '../../parts/Page.js';
import { useState } from 'preact/hooks';
import type { TestResult, Webhook } from '../../../client/api/types.js';
import { call } from '../../api.js';
import { Dialog } from '../../parts/Dialog.js';
import { Form, FormProblem, SelectField, SubmitButton } from '../../parts/Form.js';
import { Code } from '../../parts/Id.js';
import { named } from '../../words.js';
import { attemptSentence } from '../../sentences.js';
import { useStates } from './catalogue.js';

export function TestDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  return (
    <Dialog title="Send a test" onClose={onClose} isWide>
      <p class="soft long">
        A sample notification goes to <code>{webhook.targetAddress}</code> now, signed like any other. Its
        tracking id is <code>TEST</code>.
      </p>
      <TestForm webhookId={webhook.webhookId} />
    </Dialog>
  );
}

/** Sends a sample of a state, and shows at once what the receiver responded. */
export function TestForm({
  webhookId,
  onSent,
  sentenceOf = (result) => attemptSentence(result, result.eventId),
}: {
  webhookId: string;
  sentenceOf?: (result: TestResult) => string;
  onSent?: (result: TestResult) => void;
}) {
  const states = useStates();
  const [state, setState] = useState('CREATED');
  const [result, setResult] = useState<TestResult | null>(null);
  const send = async () => {
    const received = await call<TestResult>('POST', `/v1/webhooks/${webhookId}/test`, { state });
    setResult(received);
    onSent?.(received);
  };
  return (
    <Form onSubmit={send} class="test-form">
      <div class="field-and-button">
        <SelectField
          label="State"
          name="state"
          value={state}
          options={named(states.length > 0 ? states : [state])}
          onChoose={setState}
        />
        <SubmitButton>{result ? 'Send again' : 'Send test'}</SubmitButton>
      </div>
      <FormProblem shown={['state']} />
      <div aria-live="polite">{result && <Outcome result={result} sentence={sentenceOf(result)} />}</div>
    </Form>
  );
}

/** One attempt: whether it succeeded, how long it took, and the body of the response. */
function Outcome({ result, sentence }: { result: TestResult; sentence: string }) {
  const { errorCode, responseBody } = result;
  return (
    <div class="outcome">
      <p class="outcome-line">
        <StatusBadge status={errorCode === null ? 'SUCCEEDED' : 'FAILED'} />
        <strong>{sentence}</strong>
      </p>
      {errorCode !== null && result.statusCode !== null && (
        <p>
          <DiagnoseLink deliveryId={result.deliveryId} number={result.number} />
        </p>
      )}
      {responseBody ? (
        <Code text={responseBody} label="Copy the response" wrap />
      ) : (
        responseBody === '' && <p class="soft">The response has no body.</p>
      )}
    </div>
  );
}
