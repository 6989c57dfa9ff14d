import { decodeCursor, pageOf } from '../cursor.js';
import {
  AUDIT_KEPT,
  type AuditEntry,
  type AuditStore,
  type Operator,
  type OperatorStore,
  SIGN_IN_REFUSED,
  SIGN_INS_KEPT,
  SIGNED_IN,
} from '../store.js';
import { isAdded } from './connection.js';
import { nextOf } from './counters.js';
import type { AuditDocument } from './models/audit.js';
import type { OperatorDocument } from './models/operators.js';
import { documentOf, rowOf } from './rows.js';
import type { Models } from './schemas.js';

/** The dashboard's operators in a MongoDB store, and their logins. */
export function mongoOperators(models: Models): OperatorStore {
  const { operators } = models;
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
    ...mongoLogins(models),
  };
}

function mongoLogins({ logins, operators }: Models): Pick<OperatorStore, 'addLogin' | 'login' | 'endLogin'> {
  return {
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
  /** Deletes the oldest entries of a kind. */
  const forget = async (kind: { action: string | { $ne: string } }, count: number) => {
    if (count <= 0) return;
    const last = await audit
      .findOne(kind)
      .sort({ n: 1 })
      .skip(count - 1);
    if (last) await audit.deleteMany({ ...kind, n: { $lte: last.n } });
  };
  return {
    audit: async (entry, keep) => {
      const n = await nextOf(models, 'dashboard', 'audit');
      await audit.create({ ...entry, n });
      if (entry.action === SIGN_IN_REFUSED) {
        const refused = await audit.countDocuments({ action: SIGN_IN_REFUSED });
        return forget({ action: SIGN_IN_REFUSED }, refused - (keep ?? SIGN_INS_KEPT));
      }
      const signIns = await audit.countDocuments({ action: SIGNED_IN });
      if (entry.action === SIGNED_IN) await forget({ action: SIGNED_IN }, signIns - (keep ?? SIGN_INS_KEPT));
      else {
        const changes = (await audit.estimatedDocumentCount()) - signIns;
        await forget({ action: { $ne: SIGNED_IN } }, changes - (keep ?? AUDIT_KEPT));
      }
    },
    auditLog: async ({ limit, cursor }) => {
      const before = cursor === null ? {} : { n: { $lt: decodeCursor('audit', /^$/, cursor)[0] } };
      const found = audit
        .find(before)
        .sort({ n: -1 })
        .limit(limit + 1);
      const documents = await found;
      return pageOf('audit', documents, limit, ({ n }) => [n, ''], entryOf);
    },
    signIns: async () => (await audit.find({ action: SIGNED_IN }).sort({ n: 1 })).map(entryOf),
  };
}

function entryOf({ at, actor, action, accountId, subject }: AuditDocument): AuditEntry {
  return { at, actor, action, accountId: accountId ?? null, subject };
}
