import { useState } from 'preact/hooks';
import { Button } from '../../parts/Button.js';
import { Dialog } from '../../parts/Dialog.js';
import { Form, FormProblem, SubmitButton, TextField } from '../../parts/Form.js';
import { showToast } from '../../parts/Toast.js';
import { changePassword, session } from '../../session.js';

interface Props {
  onChanged: () => void;
  onClose: () => void;
}

export function PasswordDialog({ onChanged, onClose }: Props) {
  const [currentPassword, setCurrentPassword] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const submit = async () => {
    await changePassword({ currentPassword, newPassword });
    showToast('Your password is changed. Your other sessions and access tokens have ended.');
    onChanged();
    onClose();
  };
  return (
    <Dialog title="Change your password" onClose={onClose}>
      <Form onSubmit={submit}>
        <p>Your other sessions and access tokens end. Tokens of programs stay valid.</p>
        {/* For the browser's password manager. */}
        <input type="text" autocomplete="username" value={session.value!.user?.email} hidden readOnly />
        <TextField
          label="Current password"
          name="currentPassword"
          type="password"
          value={currentPassword}
          onInput={setCurrentPassword}
          required
          autofocus
          autocomplete="current-password"
        />
        <TextField
          label="New password"
          name="newPassword"
          type="password"
          hint="12 to 128 characters"
          value={newPassword}
          onInput={setNewPassword}
          required
          autocomplete="new-password"
        />
        <FormProblem shown={['currentPassword', 'newPassword']} />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton>Change password</SubmitButton>
        </footer>
      </Form>
    </Dialog>
  );
}
