import { useEffect, useRef, useState } from 'preact/hooks';
import type { Me } from '../../../src/dashboard/schemas.js';
import { api } from '../api.js';
import { Dialog, Field, Form } from '../ui.js';

/** Changes the own password, which ends all other logins. */
export function ChangePassword({ onClose }: { readonly onClose: () => void }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  return (
    <Dialog title="Change your password" onClose={onClose}>
      <p>You stay signed in here, and are signed out everywhere else.</p>
      <Form
        submit="Change password"
        onSubmit={() => api<Me>('POST', '/password', { current, password }).then(onClose)}
        onCancel={onClose}
      >
        <Field label="Current password">
          {(id) => (
            <input
              id={id}
              type="password"
              value={current}
              autocomplete="current-password"
              required
              onInput={(event) => setCurrent(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label="New password" hint="12 to 200 characters.">
          {(id, hint) => (
            <input
              id={id}
              type="password"
              value={password}
              autocomplete="new-password"
              minLength={12}
              maxLength={200}
              required
              aria-describedby={hint}
              onInput={(event) => setPassword(event.currentTarget.value)}
            />
          )}
        </Field>
      </Form>
    </Dialog>
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
          <Field label="Name">
            {(id) => (
              <input
                id={id}
                value={name}
                autocomplete="username"
                required
                onInput={(event) => setName(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field
            label="Password"
            hint="The service printed it once, at its first start. If it is lost, “admin operator reset NAME” sets a new one."
          >
            {(id, hint) => (
              <input
                id={id}
                ref={field}
                type="password"
                value={password}
                autocomplete="current-password"
                required
                aria-describedby={hint}
                onInput={(event) => setPassword(event.currentTarget.value)}
              />
            )}
          </Field>
        </Form>
      </div>
    </main>
  );
}
