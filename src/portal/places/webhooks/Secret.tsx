import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { EndedSecrets, RotatedSecret, Webhook, WebhookWithHealth } from '../../../client/api/types.js';
import { call } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { Confirm, Dialog } from '../../parts/Dialog.js';
import { Form, FormProblem, SelectField, SubmitButton } from '../../parts/Form.js';
import { Code } from '../../parts/Id.js';
import { exact, Time } from '../../parts/Time.js';
import { showToast } from '../../parts/Toast.js';
import { session } from '../../session.js';

/** A secret, the only time that it is shown. A click beside it does not close it. */
export function SecretDialog({
  title,
  secret,
  what = 'secret',
  intro = "This is the webhook's secret.",
  reader = 'server',
  children,
  onClose,
}: {
  title: string;
  secret: string;
  what?: string;
  intro?: string;
  /** The name of what needs it. */
  reader?: string;
  children?: ComponentChildren;
  onClose: () => void;
}) {
  return (
    <Dialog title={title}>
      <p>
        {intro} Store it where your {reader} reads it: <strong>it will not be shown again.</strong>
      </p>
      <Code text={secret} label={`Copy the ${what}`} wrap />
      {children}
      <footer>
        <Button kind="primary" onClick={onClose}>
          I have stored it
        </Button>
      </footer>
    </Dialog>
  );
}

const overlaps = {
  '24h': 'for 24 hours',
  '1h': 'for 1 hour',
  '7d': 'for 7 days',
  '0s': 'not at all: it has leaked',
};

/** Asks how long the old secret signs too, then shows the new one. */
export function RotateDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const [overlap, setOverlap] = useState('24h');
  const [rotated, setRotated] = useState<RotatedSecret | null>(null);
  if (rotated)
    return (
      <SecretDialog
        title="New secret"
        secret={rotated.secret}
        intro="This is the webhook's new secret."
        onClose={onClose}
      >
        {overlap !== '0s' && (
          <p class="soft">
            Until {exact(rotated.previousSecretValidUntil)}, notifications are also signed with the old one,
            and with those before it that were promised more time.
          </p>
        )}
      </SecretDialog>
    );
  const rotate = async () => {
    const path = `/v1/webhooks/${webhook.webhookId}/rotate-secret`;
    setRotated(await call<RotatedSecret>('POST', path, { overlap }));
  };
  return (
    <Dialog title="Rotate the secret?" onClose={onClose}>
      <Form onSubmit={rotate}>
        <p>
          From now on a new secret signs. The old one also signs for a while, so that you have time to change
          your server.
        </p>
        <SelectField
          label="The old secret also signs"
          name="overlap"
          value={overlap}
          options={Object.entries(overlaps)}
          onChoose={setOverlap}
        />
        <FormProblem shown={['overlap']} />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton>Rotate secret</SubmitButton>
        </footer>
      </Form>
    </Dialog>
  );
}

/** When the secret was rotated, until when earlier ones sign, and what can be done about it. */
export function SecretCard({
  secrets: { rotatedAt, earlier },
  onRotate,
  onEnd,
}: Pick<WebhookWithHealth, 'secrets'> & { onRotate: () => void; onEnd: () => void }) {
  return (
    <section class="panel" aria-labelledby="secret-title">
      <h2 id="secret-title">Secret</h2>
      <p>
        {rotatedAt ? (
          <>
            Rotated <Time at={rotatedAt} />.
          </>
        ) : (
          'Never rotated: the one that the webhook was created with signs.'
        )}
      </p>
      {earlier.length > 0 && (
        <>
          <p>
            {earlier.length === 1 ? '1 earlier secret signs' : `${earlier.length} earlier secrets sign`} too,
            until:
          </p>
          <ul>
            {earlier.map(({ signsUntil }, index) => (
              <li key={index}>
                <Time at={signsUntil} isExact />
              </li>
            ))}
          </ul>
        </>
      )}
      {rotatedAt && earlier.length === 0 && <p class="soft">No earlier secret signs any more.</p>}
      {!session.value?.readOnly && (
        <p class="buttons">
          <Button onClick={onRotate}>Rotate…</Button>
          {earlier.length > 0 && <Button onClick={onEnd}>End now…</Button>}
        </p>
      )}
    </section>
  );
}

/** Asks before earlier secrets end, as receivers may still have them. */
export function EndEarlierDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const end = async () => {
    const path = `/v1/webhooks/${webhook.webhookId}/secrets/previous`;
    const { ended } = await call<EndedSecrets>('DELETE', path);
    showToast(ended === 0 ? 'No earlier secret was signing.' : 'Only the current secret signs now.');
  };
  return (
    <Confirm
      title="End the earlier secrets now?"
      action="End earlier secrets"
      isDangerous
      onConfirm={end}
      onClose={onClose}
    >
      <p>
        From now on only the current secret signs. A server that still verifies with an earlier one will
        refuse what it gets.
      </p>
    </Confirm>
  );
}
