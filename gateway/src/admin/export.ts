import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { diagnosticsAnswer, sessionAnswer } from '../rest/sessions/schema.js';
import { type AuditEntry, pagesOf } from '../store/store.js';
import { accountOf } from './accounts.js';
import { type AdminContext, note } from './context.js';
import { Refusal } from './refusal.js';
import { auditShown, keyShown } from './shown.js';

const PAGE = 200;

type Kind = 'key' | 'session' | 'insight' | 'beat' | 'audit';

/**
 * Writes all that an account has of one user to a new file that only its owner can read, one JSON object a line: keys,
 * sessions, each with its insights and beats, and entries of the audit log.
 */
export async function exportUser(
  context: AdminContext,
  accountId: string,
  user: string,
  file: string,
): Promise<object> {
  const { id } = await accountOf(context, accountId);
  const counts = { key: 0, session: 0, insight: 0, beat: 0, audit: 0 };
  const text = async function* () {
    for await (const [kind, row] of rowsOf(context, id, user)) {
      counts[kind] += 1;
      yield `${JSON.stringify({ [kind]: row })}\n`;
    }
    if (counts.key + counts.session === 0)
      throw new Refusal(`the account has no key and no session of the user ${JSON.stringify(user)}`);
  };
  try {
    await pipeline(Readable.from(text()), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new Refusal(`${file} exists already: choose a new file`);
    await rm(file, { force: true });
    throw error;
  }
  await note(context, 'user exported', id, user);
  const { key: keys, session: sessions, insight: insights, beat: beats } = counts;
  return { account_id: id, user, file, keys, sessions, insights, beats };
}

async function* rowsOf(context: AdminContext, accountId: string, user: string): AsyncGenerator<[Kind, object]> {
  const { store } = context;
  for (const key of await store.keys(accountId)) if (key.user === user) yield ['key', keyShown(key)];
  const query = { accountId, user, status: null, limit: PAGE };
  for await (const rows of pagesOf((cursor) => store.sessions({ ...query, cursor })))
    for (const row of rows) {
      const diagnostics = await store.diagnostics(row.id);
      yield ['session', { ...sessionAnswer(row), ...(diagnostics && { diagnostics: diagnosticsAnswer(diagnostics) }) }];
      for await (const batch of store.sessionInsights(row.id)) for (const insight of batch) yield ['insight', insight];
      for await (const batch of store.sessionBeats(row.id))
        for (const beat of batch) yield ['beat', { session_id: row.id, ...beat }];
    }
  for await (const entries of pagesOf((cursor) => store.auditLog({ limit: PAGE, cursor })))
    for (const entry of entries) if (concerns(entry, accountId, user)) yield ['audit', auditShown(entry)];
}

/** Whether an entry names a user: as the owner of a key, or as the object. */
function concerns({ accountId, action, subject }: AuditEntry, account: string, user: string): boolean {
  if (accountId !== account) return false;
  return action.startsWith('key ') ? subject.endsWith(` of ${user}`) : action.startsWith('user ') && subject === user;
}
