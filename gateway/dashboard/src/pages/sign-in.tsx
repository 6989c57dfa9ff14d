import { useEffect, useRef, useState } from 'preact/hooks';
import type { Me } from '../../../src/dashboard/rows.js';
import { api } from '../api.js';
import { Form, FormDialog, TextField } from '../ui.js';

/** Changes the own password, which ends all other logins. */
export function ChangePassword({ onClose }: { readonly onClose: () => void }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  return (
    <FormDialog
      title="Change your password"
      submit="Change password"
      onSubmit={() => api<Me>('POST', '/password', { current, password }).then(onClose)}
      onClose={onClose}
    >
      <p>You stay signed in here, and are signed out everywhere else.</p>
      <TextField
        label="Current password"
        type="password"
        value={current}
        set={setCurrent}
        autocomplete="current-password"
        required
      />
      <TextField
        label="New password"
        hint="12 to 200 characters."
        type="password"
        value={password}
        set={setPassword}
        autocomplete="new-password"
        minLength={12}
        maxLength={200}
        required
      />
    </FormDialog>
  );
}

export function SignIn({ onSignedIn }: { readonly onSignedIn: (me: Me) => void }) {
  const [name, setName] = useState('admin');
  const [password, setPassword] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = 'Sign in · Device Insights';
    field.current?.focus();
  }, []);
  const submit = () =>
    api<Me>('POST', '/sign-in', { name, password }).then(onSignedIn, (error: unknown) => {
      field.current?.focus();
      field.current?.select();
      throw error;
    });
  return (
    <main class="alone">
      <div class="sign-in">
        <img src="/dashboard/favicon.svg" alt="" width="40" height="40" />
        <h1>Sign in to Device Insights</h1>
        <Form submit="Sign in" onSubmit={submit}>
          <TextField label="Name" value={name} set={setName} autocomplete="username" required />
          <TextField
            label="Password"
            hint="The service printed it once, at its first start. If it is lost, “admin operator reset NAME” sets a new one."
            ref={field}
            type="password"
            value={password}
            set={setPassword}
            autocomplete="current-password"
            required
          />
        </Form>
      </div>
    </main>
  );
}
