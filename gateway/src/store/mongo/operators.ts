import { decodeCursor, pageOf } from '../cursor.js';
import { type AuditEntry, type AuditStore, kindOf, type Operator, type OperatorStore } from '../store.js';
import { isAdded } from './connection.js';
import { nextOf } from './counters.js';
import type { AuditDocument } from './models/audit.js';
import type { OperatorDocument } from './models/operators.js';
import { documentOf, rowOf } from './rows.js';
import type { Models } from './schemas.js';

/** The dashboard's operators in a MongoDB store, and their logins. */
export function mongoOperators({ logins, operators }: Models): OperatorStore {
  const one = (found: OperatorDocument | null): Operator | null => found && rowOf(found);
  return {
    addOperator: (operator) => isAdded(operators.create(documentOf(operator)), 'name'),
    operatorNamed: async (name) => one(await operators.findOne({ name })),
    operators: async () => (await operators.find().sort({ name: 1 })).map(rowOf),
    setOperatorPassword: async (id, password) => {
      const update = { $set: { password }, $inc: { revision: 1 } };
      return one(await operators.findByIdAndUpdate(id, update, { returnDocument: 'after' }));
    },
    removeOperator: async (id) => one(await operators.findByIdAndDelete(id)),
    addLogin: async ({ hash, ...login }) => {
      await logins.deleteMany({ expiresAt: { $lte: login.createdAt } });
      await logins.create({ _id: hash, ...login });
    },
    login: async (hash) => {
      const found = await logins.findById(hash);
      if (!found) return null;
      const { _id, ...login } = found;
      const whose = { _id: login.operatorId, revision: login.revision };
      const operator = await operators.findOne(whose);
      return operator && { login: { hash: _id, ...login }, operator: rowOf(operator) };
    },
    endLogin: async (hash) => {
      await logins.deleteOne({ _id: hash });
    },
  };
}

/** The audit log of a MongoDB store. */
export function mongoAudit(models: Models): AuditStore {
  const { audit } = models;
  return {
    audit: async (entry, keep) => {
      const { kind, kept } = kindOf(entry);
      await audit.create({ ...entry, kind, n: await nextOf(models, 'dashboard', 'audit') });
      const last = await audit
        .findOne({ kind })
        .sort({ n: -1 })
        .skip(keep ?? kept);
      if (last) await audit.deleteMany({ kind, n: { $lte: last.n } });
    },
    auditLog: async ({ limit, cursor }) => {
      const before = cursor === null ? {} : { n: { $lt: decodeCursor('audit', /^$/, cursor)[0] } };
      const found = audit.find(before).sort({ n: -1 });
      return pageOf('audit', await found.limit(limit + 1), limit, ({ n }) => [n, ''], entryOf);
    },
    signIns: async () => (await audit.find({ kind: 'sign-in' }).sort({ n: 1 })).map(entryOf),
  };
}

function entryOf({ at, actor, action, accountId, subject }: AuditDocument): AuditEntry {
  return { at, actor, action, accountId: accountId ?? null, subject };
}
