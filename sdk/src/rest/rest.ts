import type {
  Algorithm,
  Beat,
  DeviceModel,
  DeviceModelChange,
  Health,
  Insight,
  ListInsightsData,
  ListSessionsData,
  ModalityChannel,
  ModalityChannelChange,
  NewDeviceModel,
  NewModalityChannel,
  Session,
  Summary,
} from '../generated/types.gen.js';
import { type Instant, instantText } from '../instant.js';
import { listOf } from '../json.js';
import { check, checkOptions, type Rules } from '../options.js';
import { queryText, type ServiceAccess } from '../socket/service-address.js';
import { type HttpOptions, send } from './http.js';
import { type Listing, paged } from './page.js';

/** The service's address, the key, and the settings of requests. */
export interface RestOptions extends HttpOptions, ServiceAccess {}

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call: it rejects with the signal's reason, and the iteration of a list throws it at the next row. */
  readonly signal?: AbortSignal;
}

/** Selects sessions: `status`, `device_id`, `limit` (default 50, at most 200) and `cursor`. */
export interface SessionsQuery extends Omit<NonNullable<ListSessionsData['query']>, InstantName> {
  /** Only sessions with data at or after this instant. */
  readonly data_since?: Instant;
  /** Only sessions with data before this instant. */
  readonly data_until?: Instant;
}
/** Selects stored insights: also `type`, `device_id`, `limit` (rows of a page, default 100, at most 1000) and `cursor`. */
export interface InsightsQuery extends Omit<NonNullable<ListInsightsData['query']>, InstantName> {
  /** Only insights published at or after this instant; the rows then start there, otherwise the newest come first. */
  readonly since?: Instant;
  /** Only insights published before this instant. */
  readonly until?: Instant;
  /** Only insights whose data end (`actual_end`) at or after this instant; the rows then start there, in that order. */
  readonly data_since?: Instant;
  /** Only insights whose data end before this instant. */
  readonly data_until?: Instant;
}

const INSTANTS = ['since', 'until', 'data_since', 'data_until'] as const;
type InstantName = (typeof INSTANTS)[number];
type TimedQuery = { readonly [name in InstantName]?: Instant };

const DATA_PERIOD = { data_since: true, data_until: true } as const;
const SESSIONS_QUERY: Rules<SessionsQuery> = {
  limit: true,
  status: true,
  device_id: true,
  ...DATA_PERIOD,
  cursor: true,
};
const INSIGHTS_QUERY: Rules<InsightsQuery> = {
  type: true,
  device_id: true,
  since: true,
  until: true,
  ...DATA_PERIOD,
  limit: true,
  cursor: true,
};
const CALL: Rules<CallOptions> = { signal: true };

/** The device models of the account. */
export interface DeviceModels {
  /** Creates a device model. Rejects with ApiError: 400, or 409 if the account has the maximum number of models. */
  create(body: NewDeviceModel, call?: CallOptions): Promise<DeviceModel>;
  /** All models of the account, oldest first. */
  list(call?: CallOptions): Promise<DeviceModel[]>;
  /** One device model. Rejects with ApiError: 404, or 403 if it belongs to another account. */
  get(id: string, call?: CallOptions): Promise<DeviceModel>;
  /** Changes the given fields; channels are changed or added, never removed. */
  update(id: string, body: DeviceModelChange, call?: CallOptions): Promise<DeviceModel>;
  /** Rejects with ApiError 409 while a device references the model. */
  delete(id: string, call?: CallOptions): Promise<void>;
}

/** The modality channels of a device model. */
export interface Modalities {
  /** The channels of a device model, in the order of their indices. */
  list(deviceModelId: string, call?: CallOptions): Promise<ModalityChannel[]>;
  /** Adds a channel to a device model, as its last. */
  create(deviceModelId: string, body: NewModalityChannel, call?: CallOptions): Promise<ModalityChannel>;
  /** Changes the given fields of a channel. */
  update(
    deviceModelId: string,
    channelId: string,
    body: ModalityChannelChange,
    call?: CallOptions,
  ): Promise<ModalityChannel>;
  /** Removes a channel; the indices of those after it become smaller. */
  delete(deviceModelId: string, channelId: string, call?: CallOptions): Promise<void>;
}

/** The sessions that the key may see. */
export interface Sessions {
  /** Sessions, newest first. A TypeError names an option that does not exist. */
  list(query?: SessionsQuery, call?: CallOptions): Listing<Session>;
  /** One session. Rejects with ApiError: 404, or 403 if the key may not see it. */
  get(id: string, call?: CallOptions): Promise<Session>;
  /** All stored insights of a session, in chronological order. */
  insights(id: string, call?: CallOptions): Promise<Insight[]>;
  /** All beats of a session, in chronological order. */
  beats(id: string, call?: CallOptions): Promise<Beat[]>;
  /** Summary of the insights of a session, one entry per type. */
  summary(id: string, call?: CallOptions): Promise<Summary[]>;
}

/** The stored insights that the key may see. */
export interface Insights {
  /**
   * Stored insights across sessions: from `since` or `data_since` on, oldest first, or without them back from the newest.
   * A TypeError names an option that does not exist; a RangeError refuses times that are not in ms.
   */
  list(query?: InsightsQuery, call?: CallOptions): Listing<Insight>;
}

/** The algorithms of the service. */
export interface Algos {
  /** The algorithms that the account is entitled to. */
  list(call?: CallOptions): Promise<Algorithm[]>;
}

/** The operations of the service's REST interface. Every call rejects with ApiError or ConnectionError. */
export interface Operations {
  readonly deviceModels: DeviceModels;
  readonly modalities: Modalities;
  readonly sessions: Sessions;
  readonly insights: Insights;
  readonly algos: Algos;
  readonly health: (call?: CallOptions) => Promise<Health>;
}

/** The operations as requests to a service. */
export function operations(options: RestOptions): Operations {
  const { baseUrl, apiKey } = options;
  /**
   * @param path the parts of the path after `/v1`; where their number is odd, a GET is answered with a list
   * @returns the JSON of the answer, and the cursor of another page
   * @throws TypeError for an option that does not exist or an id that is none; what `send` throws; ForeignAnswer if the
   * answer has another form
   */
  async function request<Data>(
    method: string,
    path: readonly string[],
    call: CallOptions = {},
    body?: object,
    query?: object,
  ): Promise<{ data: Data; next: string | null }> {
    checkOptions('a call', call, CALL);
    const isList = method === 'GET' && path.length % 2 === 1;
    const asked = {
      method,
      url: `${baseUrl}/v1/${path.map(idText).join('/')}${queryText({ ...query })}`,
      headers: {
        Authorization: `Bearer ${apiKey}`,
        ...(method === 'POST' && { 'Idempotency-Key': randomKey() }),
        ...(body && { 'Content-Type': 'application/json' }),
      },
      body: JSON.stringify(body),
      apiKey,
      signal: call.signal,
      form: isList ? listOf({}) : method === 'DELETE' ? undefined : {},
    };
    return (await send(asked, options)) as { data: Data; next: string | null };
  }

  const ask = async <Data>(method: string, path: readonly string[], call?: CallOptions, body?: object) =>
    (await request<Data>(method, path, call, body)).data;
  /** @param back whether each page has older rows than the one before */
  function listing<Query extends SessionsQuery | InsightsQuery, Row>(
    path: string,
    rules: Rules<Query>,
    query: Query,
    call: CallOptions | undefined,
    back: boolean,
  ): Listing<Row> {
    checkOptions(`${path}.list`, query, rules);
    const texts = withTexts(query);
    const read = (cursor = query.cursor) => request<Row[]>('GET', [path], call, undefined, { ...texts, cursor });
    return paged(read, back, call?.signal);
  }

  return {
    deviceModels: {
      create: (body, call) => ask('POST', [MODELS], call, body),
      list: (call) => ask('GET', [MODELS], call),
      get: (id, call) => ask('GET', [MODELS, id], call),
      update: (id, body, call) => ask('PUT', [MODELS, id], call, body),
      delete: (id, call) => ask('DELETE', [MODELS, id], call),
    },
    modalities: {
      list: (model, call) => ask('GET', [MODELS, model, CHANNELS], call),
      create: (model, body, call) => ask('POST', [MODELS, model, CHANNELS], call, body),
      update: (model, id, body, call) => ask('PUT', [MODELS, model, CHANNELS, id], call, body),
      delete: (model, id, call) => ask('DELETE', [MODELS, model, CHANNELS, id], call),
    },
    sessions: {
      list: (query = {}, call) => listing('sessions', SESSIONS_QUERY, query, call, false),
      get: (id, call) => ask('GET', ['sessions', id], call),
      insights: (id, call) => ask('GET', ['sessions', id, 'insights'], call),
      beats: (id, call) => ask('GET', ['sessions', id, 'beats'], call),
      summary: (id, call) => ask('GET', ['sessions', id, 'summary'], call),
    },
    insights: {
      list(query = {}, call) {
        const start = (query.data_since ?? query.data_until) === undefined ? query.since : query.data_since;
        return listing('insights', INSIGHTS_QUERY, query, call, start === undefined);
      },
    },
    algos: { list: (call) => ask('GET', ['algos'], call) },
    health: (call) => ask('GET', ['stream', 'health'], call),
  };
}

const MODELS = 'device-models';
const CHANNELS = 'modalities';

/**
 * An id as a part of a path.
 *
 * @throws TypeError for an id that is no text, or would change the address of the request
 */
function idText(id: string): string {
  check(typeof id === 'string' && !/^\.{0,2}$/.test(id), 'an id', 'a text, not . or ..', id);
  return encodeURIComponent(id);
}

/** @throws RangeError for instants that are not in ms */
function withTexts(query: TimedQuery): object {
  return { ...query, ...Object.fromEntries(INSTANTS.map((name) => [name, instantText(name, query[name])])) };
}

/**
 * 104 random bits. React Native has no `crypto`, and pages that are not served securely have little of it: a key need
 * not be secret, only unlike the account's others.
 */
function randomKey(): string {
  return `${Math.random()}${Math.random()}`;
}
