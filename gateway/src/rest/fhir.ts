import { z } from 'zod';
import type { StoredInsight } from '../insight.js';
import { isoTime } from '../instant.js';
import type { SessionStore } from '../store/store.js';
import { nameUuid } from '../uuid.js';
import { answerText, whileAuthenticated } from './json-array.js';
import { keyOf, type RestContext } from './rest-context.js';

const FHIR_JSON = 'application/fhir+json';
const TERMINOLOGY = 'http://terminology.hl7.org/CodeSystem';
const UCUM = 'http://unitsofmeasure.org';

/** LOINC codes and UCUM units, as the vital signs profiles of R4 require them; oxygensat also wants the general code. */
interface Coded {
  readonly loinc: readonly [code: string, display: string][];
  readonly unit: string;
  /** The field with the value. Default: value. */
  readonly of?: 'sdnn';
}
const CODES: Readonly<Record<string, Coded>> = {
  hr: { loinc: [['8867-4', 'Heart rate']], unit: '/min' },
  spo2: {
    loinc: [
      ['59408-5', 'Oxygen saturation in Arterial blood by Pulse oximetry'],
      ['2708-6', 'Oxygen saturation in Arterial blood'],
    ],
    unit: '%',
  },
  rr: { loinc: [['9279-1', 'Respiratory rate']], unit: '/min' },
  hrv: { loinc: [['80404-7', 'R-R interval.standard deviation (Heart rate variability)']], unit: 'ms', of: 'sdnn' },
};

/** The Bundle in an answer, as far as OpenAPI describes it. */
export const fhirBundle = z
  .looseObject({
    resourceType: z.literal('Bundle'),
    type: z.literal('searchset'),
    link: z
      .array(z.looseObject({ relation: z.string(), url: z.string() }))
      .meta({ description: 'self, and next while there is another page: references relative to the request.' }),
    entry: z
      .array(z.looseObject({ resource: z.looseObject({ resourceType: z.string() }) }))
      .optional()
      .meta({ description: 'The Observations. Absent if there are none.' }),
  })
  .meta({
    description:
      'A Bundle of FHIR R4 (http://hl7.org/fhir/R4): each insight is an Observation of the profile heartrate, oxygensat or resprate; hrv is the standard deviation of the intervals between beats (sdnn). effectivePeriod is the window of data, issued is ts, method the algorithm, component the confidence. An `unfit` reading has no value; dataAbsentReason says so. identifier has the session as its system. device and subject are identifiers whose system is the account (urn:uuid): device_id, and the user of the session; without a user the subject is marked as unknown. Insights of types that have no LOINC code are left out; an OperationOutcome counts them.',
  });

/** Whether the client prefers FHIR to JSON. All other types are answered with JSON. */
export function prefersFhir(ctx: RestContext): boolean {
  ctx.vary('Accept');
  const offered = ['application/json', FHIR_JSON, `${FHIR_JSON}; fhirVersion=4.0`, `${FHIR_JSON}; charset=utf-8`];
  const accepted = ctx.accepts(offered);
  return accepted !== false && accepted.startsWith(FHIR_JSON);
}

/** The users of the sessions of insights, by session. */
export async function usersOf(
  store: Pick<SessionStore, 'session'>,
  insights: readonly StoredInsight[],
): Promise<Map<string, string | null>> {
  const ids = new Set(insights.map(({ session_id }) => session_id));
  return new Map(await Promise.all([...ids].map(async (id) => [id, (await store.session(id))?.user ?? null] as const)));
}

/**
 * Answers with a Bundle of the insights, streamed as `answerArray` does.
 *
 * @param users by session
 * @param self address of the request
 * @param next address of the next page, whichever direction it goes: FHIR clients follow no other link
 */
export async function answerBundle(
  ctx: RestContext,
  batches: AsyncIterable<readonly StoredInsight[]> | Iterable<readonly StoredInsight[]>,
  { users, self, next }: { users: ReadonlyMap<string, string | null>; self: string; next?: string | null },
): Promise<void> {
  const link = [{ relation: 'self', url: self }, ...(next ? [{ relation: 'next', url: next }] : [])];
  const { accountId } = keyOf(ctx);
  const form = (insight: StoredInsight) => entry(insight, accountId, users.get(insight.session_id) ?? null);
  await answerText(ctx, FHIR_JSON, bundleText(whileAuthenticated(ctx, batches), link, form));
}

/** The text of a Bundle. Nothing comes before the first batch, so that a failing store can still be answered with 500. */
async function* bundleText(
  batches: AsyncIterable<readonly StoredInsight[]>,
  link: readonly object[],
  form: (insight: StoredInsight) => object | null,
): AsyncGenerator<string, void, undefined> {
  const head = JSON.stringify({ resourceType: 'Bundle', type: 'searchset', link }).slice(0, -1);
  let lead = `${head},"entry":[`;
  const leftOut = new Map<string, number>();
  for await (const batch of batches) {
    const entries = batch.flatMap((insight) => form(insight) ?? []);
    for (const { type } of batch) if (!CODES[type]) leftOut.set(type, (leftOut.get(type) ?? 0) + 1);
    if (entries.length === 0) continue;
    yield lead + JSON.stringify(entries).slice(1, -1);
    lead = ',';
  }
  if (leftOut.size > 0) {
    yield lead + JSON.stringify(outcome(leftOut));
    lead = ',';
  }
  yield lead === ',' ? ']}' : `${head}}`; // FHIR has no empty arrays.
}

function outcome(leftOut: ReadonlyMap<string, number>): object {
  const issue = [...leftOut].map(([type, count]) => ({
    severity: 'information',
    code: 'not-supported',
    diagnostics: `${count} insights of the type ${type} have no LOINC code: read them with Accept: application/json`,
  }));
  return { resource: { resourceType: 'OperationOutcome', issue }, search: { mode: 'outcome' } };
}

/** The entry of an insight; null if its type has no LOINC code. */
function entry(insight: StoredInsight, accountId: string, user: string | null): object | null {
  const coded = CODES[insight.type];
  if (!coded) return null;
  const value = insight[coded.of ?? 'value'];
  const { type, ts, session_id, device_id, confidence, sqi_class, actual_start, actual_end, algorithm } = insight;
  const name = `${type}/${ts}`;
  const id = nameUuid(name, session_id); // Stays the same.
  const own = (value: string) => ({ system: `urn:uuid:${accountId}`, value });
  const resource = {
    resourceType: 'Observation',
    id,
    identifier: [{ system: `urn:uuid:${session_id}`, value: name }],
    status: 'final',
    category: [{ coding: [{ system: `${TERMINOLOGY}/observation-category`, code: 'vital-signs' }] }],
    code: { coding: coded.loinc.map(([code, display]) => ({ system: 'http://loinc.org', code, display })) },
    subject: user === null ? UNKNOWN : { type: 'Patient', identifier: own(user) },
    effectivePeriod: { start: isoTime(actual_start), end: isoTime(actual_end) },
    issued: isoTime(ts),
    // A client may read the value and nothing else, so an unfit one is left out.
    ...(sqi_class === 'unfit' || value === undefined
      ? { dataAbsentReason: UNFIT }
      : { valueQuantity: quantity(value, coded.unit) }),
    method: { text: algorithm },
    device: { type: 'Device', identifier: own(device_id) },
    component: [{ code: { text: 'confidence' }, valueQuantity: quantity(confidence, '1') }],
  };
  return { fullUrl: `urn:uuid:${id}`, resource, search: { mode: 'match' } };
}

/** A reference to nobody: the profile requires a subject, and a device may have several wearers. */
const UNKNOWN = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
};
const UNFIT = {
  coding: [{ system: `${TERMINOLOGY}/data-absent-reason`, code: 'unknown' }],
  text: 'unfit: the signal is too poor for a reading to be trusted',
};

function quantity(value: number, unit: string): object {
  return { value, unit, system: UCUM, code: unit };
}
