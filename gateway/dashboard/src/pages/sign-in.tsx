import { useEffect, useRef, useState } from 'preact/hooks';
import type { Me } from '../../../src/dashboard/schemas.js';
import { api } from '../api.js';
import { Field, Form } from '../ui.js';

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
