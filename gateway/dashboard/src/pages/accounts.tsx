import { useState } from 'preact/hooks';
import type { AccountRow, AlgorithmRow, Me } from '../../../src/dashboard/rows.js';
import { api, useLoad } from '../api.js';
import { outputName } from '../readings.js';
import { Link } from '../router.js';
import { Button, Empty, FormDialog, Page, Table, TextField, When } from '../ui.js';

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
          <Button class="primary" onClick={() => setMaking(true)}>
            New account
          </Button>
        )
      }
    >
      {accounts.length === 0 ? (
        <Empty title="No account yet">
          {mayChange ? 'Create one, then issue keys in it.' : 'Ask an operator to create one.'}
        </Empty>
      ) : (
        <Table
          label="Accounts"
          rows={accounts}
          id={({ id }) => id}
          columns={[
            { name: 'Account', cell: ({ id, name }) => <Link to={`/a/${id}/keys`}>{name}</Link> },
            {
              name: 'Entitled to',
              cell: ({ algorithms: slugs }) => (slugs === null ? 'all algorithms' : slugs.join(', ') || 'none'),
            },
            { name: 'Created', cell: ({ created_at }) => <When at={created_at} /> },
            {
              name: 'Actions',
              kind: 'row-actions',
              cell: (account) =>
                mayChange && (
                  <Button class="small" aria-label={`Entitle ${account.name}`} onClick={() => setEntitling(account)}>
                    Entitle
                  </Button>
                ),
            },
          ]}
        />
      )}
      {making && <NewAccount finish={finish} />}
      {entitling && <Entitlement account={entitling} algorithms={algorithms.data ?? []} finish={finish} />}
    </Page>
  );
}

function NewAccount({ finish }: { readonly finish: () => Promise<void> }) {
  const [name, setName] = useState('');
  const submit = () => api('POST', '/accounts', { name: name.trim() }).then(finish);
  return (
    <FormDialog title="New account" submit="Create account" onSubmit={submit} onClose={finish}>
      <TextField
        label="Name"
        hint="The account is entitled to all algorithms. You can change that later."
        value={name}
        set={setName}
        required
        maxLength={200}
      />
    </FormDialog>
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
  const submit = () => {
    const some = slugs.filter((slug) => chosen.includes(slug));
    return api('PUT', `/accounts/${account.id}/algorithms`, { algorithms: all ? null : some }).then(finish);
  };
  return (
    <FormDialog title={`Algorithms of ${account.name}`} submit="Save" onSubmit={submit} onClose={finish}>
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
    </FormDialog>
  );
}
