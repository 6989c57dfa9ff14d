import { useState } from 'preact/hooks';
import type { AccountRow, AlgorithmRow, Me } from '../../../src/dashboard/schemas.js';
import { api, useLoad } from '../api.js';
import { outputName } from '../readings.js';
import { Link } from '../router.js';
import { Dialog, Empty, Field, Form, Page, Table, When } from '../ui.js';

interface Props {
  readonly accounts: readonly AccountRow[];
  readonly reload: () => Promise<void>;
  readonly me: Me;
}

/** Accounts, and the algorithms that each is entitled to. */
export function Accounts({ accounts, reload, me }: Props) {
  const [making, setMaking] = useState(false);
  const [entitling, setEntitling] = useState<AccountRow>();
  const algorithms = useLoad<AlgorithmRow[]>('/algorithms');
  const mayChange = me.role === 'operator';
  const finish = async () => {
    setMaking(false);
    setEntitling(undefined);
    await reload();
  };
  return (
    <Page
      title="Accounts"
      lead="Keys, devices, sessions and readings belong to one account. No other account can see them."
      actions={
        mayChange && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New account
          </button>
        )
      }
    >
      {accounts.length === 0 ? (
        <Empty title="No account yet">
          {mayChange ? 'Create one, then issue keys in it.' : 'Ask an operator to create one.'}
        </Empty>
      ) : (
        <Table label="Accounts" columns={['Account', 'Entitled to', 'Created', { name: 'Actions', hidden: true }]}>
          {accounts.map((account) => (
            <tr key={account.id}>
              <th scope="row">
                <Link to={`/a/${account.id}/keys`}>{account.name}</Link>
              </th>
              <td>{account.algorithms === null ? 'all algorithms' : account.algorithms.join(', ') || 'none'}</td>
              <td>
                <When at={account.created_at} />
              </td>
              <td class="row-actions">
                {mayChange && (
                  <button
                    type="button"
                    class="small"
                    aria-label={`Entitle ${account.name}`}
                    onClick={() => setEntitling(account)}
                  >
                    Entitle
                  </button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {making && <NewAccount finish={finish} />}
      {entitling && <Entitlement account={entitling} algorithms={algorithms.data ?? []} finish={finish} />}
    </Page>
  );
}

function NewAccount({ finish }: { readonly finish: () => Promise<void> }) {
  const [name, setName] = useState('');
  return (
    <Dialog title="New account" onClose={() => void finish()}>
      <Form
        submit="Create account"
        onSubmit={async () => {
          await api('POST', '/accounts', { name: name.trim() });
          await finish();
        }}
        onCancel={() => void finish()}
      >
        <Field label="Name" hint="The account is entitled to all algorithms. You can change that later.">
          {(id, hint) => (
            <input
              id={id}
              value={name}
              required
              maxLength={200}
              aria-describedby={hint}
              onInput={(e) => setName(e.currentTarget.value)}
            />
          )}
        </Field>
      </Form>
    </Dialog>
  );
}

interface EntitlementProps {
  readonly account: AccountRow;
  readonly algorithms: readonly AlgorithmRow[];
  readonly finish: () => Promise<void>;
}

function Entitlement({ account, algorithms, finish }: EntitlementProps) {
  const slugs = algorithms.map(({ slug }) => slug);
  const [chosen, setChosen] = useState<readonly string[]>(account.algorithms ?? slugs);
  const [all, setAll] = useState(account.algorithms === null);
  const submit = async () => {
    const some = slugs.filter((slug) => chosen.includes(slug));
    await api('PUT', `/accounts/${account.id}/algorithms`, { algorithms: all ? null : some });
    await finish();
  };
  return (
    <Dialog title={`Algorithms of ${account.name}`} onClose={() => void finish()}>
      <Form submit="Save" onSubmit={submit} onCancel={() => void finish()}>
        <p>The change applies to sessions that open from now on.</p>
        <fieldset>
          <legend>Algorithms</legend>
          <label class="check">
            <input type="checkbox" checked={all} onChange={(e) => setAll(e.currentTarget.checked)} /> All, including
            future ones
          </label>
          {algorithms.map(({ slug, name, type }) => (
            <label class="check" key={slug}>
              <input
                type="checkbox"
                disabled={all}
                checked={all || chosen.includes(slug)}
                onChange={(e) =>
                  setChosen(e.currentTarget.checked ? [...chosen, slug] : chosen.filter((other) => other !== slug))
                }
              />{' '}
              {name} <span class="mute">{outputName(type)}</span>
            </label>
          ))}
        </fieldset>
      </Form>
    </Dialog>
  );
}
