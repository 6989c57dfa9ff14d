import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type AuditEntry, type Login, type Operator, SIGN_IN_REFUSED, SIGNED_IN } from '../store.js';
import { allPages, atOnce, type Handles, newMoment, sampleOperator } from './samples.js';

export function operatorSuite({ store, other }: Handles): void {
  const loginOf = (operator: Operator, createdAt: number): Login => ({
    hash: randomUUID(),
    operatorId: operator.id,
    revision: operator.revision,
    createdAt,
    expiresAt: createdAt + 1000,
  });

  describe('operators', () => {
    it('finds an operator by name, and lists all by name', async () => {
      const [second, first] = [sampleOperator({ name: 'zoë b' }), sampleOperator({ name: 'zoë a', role: 'viewer' })];
      for (const operator of [second, first]) expect(await store.addOperator(operator)).to.equal(true);
      expect(await other.operatorNamed('zoë a')).to.deep.equal(first);
      expect(await other.operatorNamed('zoë c')).to.equal(null);
      const listed = (await other.operators()).filter(({ name }) => name.startsWith('zoë'));
      expect(listed).to.deep.equal([first, second]);
    });

    it('gives a name to only one operator, even for simultaneous requests', async () => {
      const { name } = sampleOperator();
      const made = await atOnce(8, [store, other], (handle) => handle.addOperator(sampleOperator({ name })));
      expect(made.filter(Boolean)).to.have.length(1);
    });

    it('keeps a login until it is ended', async () => {
      const operator = sampleOperator();
      const login = loginOf(operator, newMoment());
      await store.addOperator(operator);
      await store.addLogin(login);
      expect(await other.login(login.hash)).to.deep.equal({ login, operator });
      await other.endLogin(login.hash);
      expect(await store.login(login.hash)).to.equal(null);
      await other.endLogin(login.hash);
    });

    it('ends the logins of an operator that gets a new password or is removed', async () => {
      const operator = sampleOperator();
      const before = loginOf(operator, newMoment());
      await store.addOperator(operator);
      await store.addLogin(before);
      const changed = { ...operator, password: 'scrypt$1$c$d', revision: 2 };
      expect(await other.setOperatorPassword(operator.id, 'scrypt$1$c$d')).to.deep.equal(changed);
      expect(await store.login(before.hash)).to.equal(null);
      const late = loginOf(operator, before.createdAt);
      await store.addLogin(late); // The old password was checked before it was replaced.
      expect(await store.login(late.hash)).to.equal(null);
      const after = loginOf(changed, before.createdAt);
      await store.addLogin(after);
      expect(await other.login(after.hash)).to.deep.equal({ login: after, operator: changed });
      expect(await other.removeOperator(operator.id)).to.deep.equal(changed);
      expect(await store.login(after.hash)).to.equal(null);
      expect(await store.removeOperator(operator.id)).to.equal(null);
      expect(await store.setOperatorPassword(operator.id, 'x')).to.equal(null);
    });

    it('deletes expired logins when another one is added', async () => {
      const operator = sampleOperator();
      const old = loginOf(operator, newMoment());
      await store.addOperator(operator);
      await store.addLogin(old);
      await other.addLogin(loginOf(operator, old.expiresAt - 1));
      expect(await store.login(old.hash)).not.to.equal(null);
      await other.addLogin(loginOf(operator, old.expiresAt));
      expect(await store.login(old.hash)).to.equal(null);
    });
  });

  describe('the audit log', () => {
    it('is newest first, in the order of writing, over pages', async () => {
      const at = newMoment();
      const entries = Array.from({ length: 7 }, (_, i): AuditEntry => {
        const accountId = i % 2 ? randomUUID() : null;
        return { at: at - i, actor: 'ann', action: 'key issued', accountId, subject: `svc_${i} 心` };
      });
      for (const entry of entries) await store.audit(entry);
      const first = await other.auditLog({ limit: 4, cursor: null });
      const second = await other.auditLog({ limit: 3, cursor: first.next });
      expect([...first.rows, ...second.rows]).to.deep.equal([...entries].reverse());
    });

    it('keeps the newest entries of each kind: changes, sign-ins and failed ones', async () => {
      const entry = { at: newMoment(), actor: 'ann', accountId: null };
      const change = (subject: string) => store.audit({ ...entry, action: 'key issued', subject }, 3);
      const signIn = (subject: string) => other.audit({ ...entry, action: SIGNED_IN, subject }, 2);
      const subjects = async () =>
        (await allPages((cursor) => other.auditLog({ limit: 4, cursor }))).flat().map(({ subject }) => subject);
      for (const n of [1, 2, 3, 4]) await change(`key ${n}`);
      for (const n of [1, 2, 3, 4, 5]) await signIn(`sign-in ${n}`);
      expect(await subjects()).to.deep.equal(['sign-in 5', 'sign-in 4', 'key 4', 'key 3', 'key 2']);
      const refused = (subject: string) => store.audit({ ...entry, action: SIGN_IN_REFUSED, subject }, 1);
      for (const n of [1, 2, 3]) await refused(`refused ${n}`);
      expect((await other.signIns()).map(({ subject }) => subject)).to.deep.equal(['sign-in 4', 'sign-in 5']);
      expect(await subjects()).to.deep.equal(['refused 3', 'sign-in 5', 'sign-in 4', 'key 4', 'key 3', 'key 2']);
      for (const n of [5, 6, 7]) await change(`key ${n}`);
      expect(await subjects()).to.deep.equal(['key 7', 'key 6', 'key 5', 'refused 3', 'sign-in 5', 'sign-in 4']);
    });
  });
}
