import { isoTime } from '../instant.js';
import { endLiveKeys, operatorRow, setPassword } from '../operators/operator.js';
import { newPassword } from '../operators/password.js';
import type { Operator, Role } from '../store/store.js';
import { type AdminContext, note } from './context.js';
import { chosen, Refusal } from './refusal.js';

/** Adds an operator, who can sign in to the dashboard. Only this answer contains the password. */
export async function addOperator(context: AdminContext, name: string, role: Role): Promise<object> {
  const password = newPassword();
  const row = await operatorRow(chosen('the name', name), role, password, context.clock.now());
  if (!(await context.store.addOperator(row))) {
    throw new Refusal(`there is already an operator named ${JSON.stringify(name)}: see "admin operator reset"`);
  }
  await note(context, 'operator added', null, `${name}, ${role}`);
  return { ...shown(row), password };
}

/** Sets a new password for an operator and signs them out everywhere. */
export async function resetOperator(context: AdminContext, name: string): Promise<object> {
  const { id } = await operatorNamed(context, name);
  const password = newPassword();
  const row = found(name, await setPassword(context.store, id, password, context.clock.now()));
  await note(context, 'password reset', null, name);
  return { ...shown(row), password };
}

export async function listOperators({ store }: AdminContext): Promise<object[]> {
  return (await store.operators()).map(shown);
}

/** Removes an operator, but not the last one that is no viewer, and signs them out everywhere. */
export async function removeOperator(context: AdminContext, name: string): Promise<object> {
  const { id } = await operatorNamed(context, name);
  if (!(await context.store.operators()).some(({ id: other, role }) => other !== id && role === 'operator'))
    throw new Refusal(`${JSON.stringify(name)} is the last operator who may change anything: add another one first`);
  const row = found(name, await context.store.removeOperator(id));
  await endLiveKeys(context.store, id, context.clock.now());
  await note(context, 'operator removed', null, name);
  return shown(row);
}

async function operatorNamed({ store }: AdminContext, name: string): Promise<Operator> {
  return found(name, await store.operatorNamed(name));
}

function found(name: string, operator: Operator | null): Operator {
  if (!operator) throw new Refusal(`there is no operator named ${JSON.stringify(name)}: see "admin operator list"`);
  return operator;
}

function shown({ id, name, role, createdAt }: Operator): object {
  return { id, name, role, created_at: isoTime(createdAt) };
}
