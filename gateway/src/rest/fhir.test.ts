import { expect } from 'chai';
import { Fhir } from 'fhir';
import { z } from 'zod';
import type { InsightType, StoredInsight } from '../insight.js';
import { insightRow, seed, sessionRow, type Tenant, TestServer } from './rest-server.fixture.js';

const T0 = Date.parse('2026-03-01T10:00:00.000Z');
const FHIR = 'application/fhir+json';

const Observation = z.looseObject({
  id: z.string(),
  identifier: z.tuple([z.object({ system: z.string(), value: z.string() })]),
  subject: z.unknown(),
  device: z.unknown(),
});
const Bundle = z.object({
  resourceType: z.literal('Bundle'),
  type: z.literal('searchset'),
  link: z.array(z.object({ relation: z.string(), url: z.string() })),
  entry: z
    .array(z.object({ fullUrl: z.string().optional(), resource: z.unknown(), search: z.object({ mode: z.string() }) }))
    .min(1)
    .optional(),
});

describe('insights as FHIR', () => {
  let server: TestServer;
  let tenant: Tenant;
  const validator = new Fhir();

  before(async () => {
    server = await TestServer.start();
  });
  beforeEach(async () => {
    tenant = await server.tenant();
  });
  after(() => server.stop());

  /** A Bundle that passes the validator, and its Observations. */
  async function bundle(path: string, from = server, accept = FHIR) {
    const { status, headers, json } = await from.request('GET', path, tenant.key, undefined, { accept });
    expect([status, headers.get('content-type')], path).to.deep.equal([200, `${FHIR}; charset=utf-8`]);
    const { valid, messages } = validator.validate(json as object, { errorOnUnexpected: true });
    expect(messages.filter(({ severity }) => severity === 'error')).to.deep.equal([]);
    expect(valid).to.equal(true);
    const { link, entry = [] } = Bundle.parse(json);
    const matches = entry.filter(({ search }) => search.mode === 'match');
    const observations = matches.map(({ fullUrl, resource }) => {
      const observation = Observation.parse(resource);
      expect(fullUrl).to.equal(`urn:uuid:${observation.id}`);
      return observation;
    });
    return { links: Object.fromEntries(link.map(({ relation, url }) => [relation, url])), entry, observations };
  }

  /** A session with these insights. */
  async function stored(user: string | null, insights: readonly Partial<StoredInsight>[]) {
    const session = sessionRow(tenant.accountId, T0, user);
    const rows = insights.map((fields, n) => ({ ...insightRow(session, T0 + n * 1000), ...fields }));
    await seed(server.store, session, rows);
    return { session, rows };
  }

  it('are Observations with the codes and units of the vital signs profiles, and of SDNN for hrv', async () => {
    const times = { ts: T0 + 120, actual_start: T0 - 8000, actual_end: T0 };
    const trusted = { ...times, value: 61.5, confidence: 0.93, sqi_class: 'excellent', algorithm: 'x@1.0.0' } as const;
    const { session } = await stored('ann', [
      { ...trusted, type: 'hr', unit: 'bpm' },
      { ...trusted, type: 'spo2', unit: '%', value: 97 },
      { ...trusted, type: 'rr', unit: 'brpm', value: 14.5, actual_start: T0 - 32_000 },
      { ...trusted, type: 'hrv', unit: 'ms', value: 41.5, sdnn: 50.3, pnn50: 8, actual_start: T0 - 60_000 },
    ]);
    const { observations } = await bundle(`/v1/sessions/${session.id}/insights`);
    const account = `urn:uuid:${tenant.accountId}`;
    const [category] = [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] },
    ];
    const loinc = (code: string, display: string) => ({ system: 'http://loinc.org', code, display });
    const quantity = (value: number, unit: string) => ({
      ...{ value, unit, system: 'http://unitsofmeasure.org', code: unit },
    });
    const expected = (type: InsightType, code: object[], value: object, start = '2026-03-01T09:59:52.000Z') => ({
      resourceType: 'Observation',
      id: observations.find(({ identifier }) => identifier[0].value.startsWith(type))?.id,
      identifier: [{ system: `urn:uuid:${session.id}`, value: `${type}/${T0 + 120}` }],
      status: 'final',
      category: [category],
      code: { coding: code },
      subject: { type: 'Patient', identifier: { system: account, value: 'ann' } },
      effectivePeriod: { start, end: '2026-03-01T10:00:00.000Z' },
      issued: '2026-03-01T10:00:00.120Z',
      valueQuantity: value,
      method: { text: 'x@1.0.0' },
      device: { type: 'Device', identifier: { system: account, value: session.deviceId } },
      component: [{ code: { text: 'confidence' }, valueQuantity: quantity(0.93, '1') }],
    });
    expect(observations).to.have.deep.members([
      expected('hr', [loinc('8867-4', 'Heart rate')], quantity(61.5, '/min')),
      expected(
        'spo2',
        [
          loinc('59408-5', 'Oxygen saturation in Arterial blood by Pulse oximetry'),
          loinc('2708-6', 'Oxygen saturation in Arterial blood'),
        ],
        quantity(97, '%'),
      ),
      expected('rr', [loinc('9279-1', 'Respiratory rate')], quantity(14.5, '/min'), '2026-03-01T09:59:28.000Z'),
      expected(
        'hrv',
        [loinc('80404-7', 'R-R interval.standard deviation (Heart rate variability)')],
        quantity(50.3, 'ms'),
        '2026-03-01T09:59:00.000Z',
      ),
    ]);
  });

  it('have no value if it is unfit, and say why', async () => {
    const { session } = await stored(null, [{ confidence: 0.3, sqi_class: 'unfit' }]);
    const [observation] = (await bundle(`/v1/sessions/${session.id}/insights`)).observations;
    expect(observation).not.to.have.property('valueQuantity');
    expect(observation).to.have.deep.nested.property('dataAbsentReason.coding[0].code', 'unknown');
    expect(observation).to.have.deep.nested.property('component[0].valueQuantity.value', 0.3);
  });

  it('have an unknown subject if the session has no user', async () => {
    const { rows } = await stored(null, [{}]);
    await stored('bob', [{}]);
    const { observations } = await bundle('/v1/insights');
    const absent = { url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' };
    for (const { identifier, subject } of observations)
      expect(subject).to.deep.equal(
        identifier[0].system === `urn:uuid:${rows[0]?.session_id}`
          ? { extension: [absent] }
          : { type: 'Patient', identifier: { system: `urn:uuid:${tenant.accountId}`, value: 'bob' } },
      );
    expect(observations).to.have.length(2);
  });

  it('keep their ids, and have no two with one id', async () => {
    const types = ['hr', 'spo2', 'rr'] as const;
    const { session } = await stored(
      'ann',
      Array.from({ length: 600 }, (_, n) => ({ type: types[n % 3] ?? 'hr' })),
    );
    const ids = async (path: string) => (await bundle(path)).observations.map(({ id }) => id);
    const ofSession = await ids(`/v1/sessions/${session.id}/insights`);
    expect(new Set(ofSession).size).to.equal(600);
    for (const id of ofSession)
      expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect((await ids('/v1/insights?limit=1000')).toSorted()).to.deep.equal(ofSession.toSorted());
  });

  it('come in pages that link next leads through, forwards and backwards', async () => {
    await stored(
      'ann',
      Array.from({ length: 25 }, () => ({})),
    );
    for (const query of ['?since=2026-03-01T00:00Z&limit=10&x=y', '?limit=10']) {
      const ids = new Set<string>();
      const sizes: number[] = [];
      for (let path: string | undefined = `/v1/insights${query}`; path !== undefined; ) {
        const { links, observations } = await bundle(path);
        expect(decodeURIComponent(links.self ?? '')).to.equal(decodeURIComponent(path).replace('&x=y', ''));
        sizes.push(observations.length);
        for (const { id } of observations) ids.add(id);
        path = links.next;
      }
      expect(sizes, query).to.deep.equal([10, 10, 5]);
      expect(ids.size, query).to.equal(25);
    }
  });

  it('without any are a Bundle without entries', async () => {
    const { session } = await stored('ann', []);
    for (const path of ['/v1/insights', `/v1/sessions/${session.id}/insights`])
      expect((await bundle(path)).entry).to.deep.equal([]);
  });

  it('leave out types without a LOINC code, and count them', async () => {
    const session = sessionRow(tenant.accountId, T0);
    const later = { ...insightRow(session, T0), type: 'later' as InsightType };
    await using own = await TestServer.start((store) => ({
      store: {
        ...store,
        session: async () => session,
        async *sessionInsights() {
          yield [later, insightRow(session, T0)];
          yield [later];
        },
      },
    }));
    const { key } = tenant;
    tenant = { ...tenant, key: await own.key(tenant.accountId, null) };
    const { entry, observations } = await bundle(`/v1/sessions/${session.id}/insights`, own);
    tenant = { ...tenant, key };
    expect(observations).to.have.length(1);
    expect(entry.at(-1)).to.have.deep.nested.property('search.mode', 'outcome');
    expect(entry.at(-1))
      .to.have.nested.property('resource.issue[0].diagnostics')
      .that.contains('2 insights of the type later');
  });

  it('are given to a client that prefers them, and JSON to all others', async () => {
    const { session, rows } = await stored('ann', [{}]);
    for (const path of ['/v1/insights', `/v1/sessions/${session.id}/insights`]) {
      for (const accept of [
        `${FHIR}, */*;q=0.1`,
        `${FHIR}; fhirVersion=4.0`,
        `${FHIR};charset=UTF-8`,
        `application/fhir+xml, ${FHIR};q=0.9, application/json;q=0.8`,
      ])
        expect((await bundle(path, server, accept)).observations, accept).to.have.length(1);
      for (const accept of ['*/*', 'application/json', `application/json, ${FHIR};q=0.9`, 'text/html', `${FHIR};q=0`]) {
        const { headers, json } = await server.request('GET', path, tenant.key, undefined, { accept });
        expect(headers.get('content-type'), accept).to.equal('application/json; charset=utf-8');
        expect(headers.get('vary'), accept).to.contain('Accept');
        expect(json, accept).to.deep.equal(rows);
      }
    }
  });

  it('are answered with 500 if the store fails before the first', async () => {
    const session = sessionRow(tenant.accountId, T0);
    await using own = await TestServer.start((store) => ({
      store: {
        ...store,
        session: async () => session,
        // biome-ignore lint/correctness/useYield: it fails first
        async *sessionInsights() {
          throw new Error('the disk is gone');
        },
      },
    }));
    const key = await own.key(tenant.accountId, null);
    const answer = await own.request('GET', `/v1/sessions/${session.id}/insights`, key, undefined, { accept: FHIR });
    expect(answer.status).to.equal(500);
  });
});
