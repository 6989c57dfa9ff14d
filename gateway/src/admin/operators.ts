import { isoTime } from '../instant.js';
import { operatorRow } from '../operators/operator.js';
import { hashPassword, newPassword } from '../operators/password.js';
import type { Operator, Role } from '../store/store.js';
import { chosen, Refusal } from './refusal.js';
import { note, type Workplace } from './workplace.js';

/** Adds an operator, who can sign in to the dashboard. Only this answer contains the password. */
export async function addOperator(place: Workplace, name: string, role: Role): Promise<object> {
  const password = newPassword();
  const row = await operatorRow(chosen('the name', name), role, password, place.clock.now());
  if (!(await place.store.addOperator(row))) {
    throw new Refusal(`there is already an operator named ${JSON.stringify(name)}: see "admin operator reset"`);
  }
  await note(place, 'operator added', null, `${name}, ${role}`);
  return { ...shown(row), password };
}

/** Sets a new password for an operator and signs them out everywhere. */
export async function resetOperator(place: Workplace, name: string): Promise<object> {
  const { id } = await operatorNamed(place, name);
  const password = newPassword();
  const row = found(name, await place.store.setOperatorPassword(id, await hashPassword(password)));
  await note(place, 'password reset', null, name);
  return { ...shown(row), password };
}

export async function listOperators({ store }: Workplace): Promise<object[]> {
  return (await store.operators()).map(shown);
}

/** Removes an operator and signs them out everywhere. */
export async function removeOperator(place: Workplace, name: string): Promise<object> {
  const { id } = await operatorNamed(place, name);
  const row = found(name, await place.store.removeOperator(id));
  await note(place, 'operator removed', null, name);
  return shown(row);
}

async function operatorNamed({ store }: Workplace, name: string): Promise<Operator> {
  return found(name, await store.operatorNamed(name));
}

function found(name: string, operator: Operator | null): Operator {
  if (!operator) throw new Refusal(`there is no operator named ${JSON.stringify(name)}: see "admin operator list"`);
  return operator;
}

function shown({ id, name, role, createdAt }: Operator): object {
  return { id, name, role, created_at: isoTime(createdAt) };
}
