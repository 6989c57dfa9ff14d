import type { DeviceModelDraft } from '../device/device-model.js';
import type {
  Algorithm,
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
} from '../generated/types.gen.js';
import { type Instant, instantText } from '../instant.js';
import { checkNames, type Names } from '../options.js';
import { parseAccess, queryText, type ServiceAccess } from '../socket/service-address.js';
import { ForeignAnswer } from './api-error.js';
import type { HistoryPage, HistoryQuery } from './history.js';
import { type HttpOptions, send } from './http.js';
import { type At, Listing, linkedCursor } from './page.js';

/** The service's address, the key, and the settings of requests. */
export interface RestOptions extends HttpOptions {
  /** The service's address, such as `https://insights.example`; without `/v1`. A TypeError says what is wrong with it. */
  readonly baseUrl: string;
  /** An API key of the service, `svc_…`. A TypeError says what is wrong with it. */
  readonly apiKey: string;
}

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call: it rejects with the signal's reason, and the iteration of a list throws it at the next row. */
  readonly signal?: AbortSignal;
}

/** Options of a call that creates. */
export interface CreateOptions extends CallOptions {
  /** Makes a repetition of the same create give the first response. Default: a random one for each call. */
  readonly idempotencyKey?: string;
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

const SESSIONS_QUERY: Names<SessionsQuery> = {
  limit: true,
  status: true,
  device_id: true,
  data_since: true,
  data_until: true,
  cursor: true,
};
const INSIGHTS_QUERY: Names<InsightsQuery> = {
  type: true,
  device_id: true,
  since: true,
  until: true,
  data_since: true,
  data_until: true,
  limit: true,
  cursor: true,
};
const CALL: Names<CallOptions> = { signal: true };
const CREATE: Names<CreateOptions> = { ...CALL, idempotencyKey: true };

const MODELS = '/v1/device-models';

/** Sends the requests of one client. */
class Requests {
  readonly #access: ServiceAccess;
  readonly #http: HttpOptions;

  constructor({ baseUrl, apiKey, ...http }: RestOptions) {
    this.#access = parseAccess({ baseUrl, apiKey });
    this.#http = http;
  }

  /** The object with which the service answers. */
  async object<Data>(method: string, path: string, call?: CreateOptions, body?: object): Promise<Data> {
    return (await this.#send(method, path, call, body, isObject)).data as Data;
  }

  /** The list with which the service answers, and its headers, which may name another page. */
  async page<Row>(path: string, call?: CallOptions): Promise<{ readonly data: Row[]; readonly headers: Headers }> {
    const isList = (data: unknown) => Array.isArray(data) && data.every(isObject);
    const { data, headers } = await this.#send('GET', path, call, undefined, isList);
    return { data: data as Row[], headers };
  }

  /** The list with which the service answers. */
  async list<Row>(path: string, call?: CallOptions): Promise<Row[]> {
    return (await this.page<Row>(path, call)).data;
  }

  /** Deletes: the service answers without content. */
  async delete(path: string, call?: CallOptions): Promise<void> {
    await this.#send('DELETE', path, call, undefined, (data) => data === undefined);
  }

  /**
   * @throws TypeError for an option that does not exist; what `send` throws; ForeignAnswer if the answer is not of the
   * form that `isRight` wants
   */
  async #send(
    method: string,
    path: string,
    call: CreateOptions = {},
    body: object | undefined,
    isRight: (data: unknown) => boolean,
  ) {
    const creates = method === 'POST';
    checkNames('a call', call, creates ? CREATE : CALL);
    const { baseUrl, apiKey } = this.#access;
    const request = {
      method,
      url: baseUrl + path,
      headers: {
        Authorization: `Bearer ${apiKey}`,
        ...(creates && { 'Idempotency-Key': call.idempotencyKey ?? randomKey() }),
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: call.signal,
    };
    const answer = await send(request, this.#http);
    if (!isRight(answer.data)) throw new ForeignAnswer(request, answer, ', of another form');
    return answer;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * An id as a part of a path.
 *
 * @throws TypeError for an id that is no text, or would change the address of the request
 */
function idText(id: string): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) throw new TypeError(`an id must not be "${id}"`);
  return `/${encodeURIComponent(id)}`;
}

/** The REST interface of the service. Every call rejects with ApiError or ConnectionError. */
export class Rest {
  /** Device models: kinds of devices. */
  readonly deviceModels: DeviceModels;
  /** Modality channels of a device model. */
  readonly modalities: Modalities;
  /** Sessions, and the insights of one. */
  readonly sessions: Sessions;
  /** Stored insights across sessions. */
  readonly insights: Insights;
  /** Algorithms. */
  readonly algos: Algos;
  readonly #requests: Requests;

  constructor(options: RestOptions) {
    this.#requests = new Requests(options);
    this.deviceModels = new DeviceModels(this.#requests);
    this.modalities = new Modalities(this.#requests);
    this.sessions = new Sessions(this.#requests);
    this.insights = new Insights(this.#requests);
    this.algos = new Algos(this.#requests);
  }

  /** @internal Reads a page of stored insights for the repair of a live subscription. */
  async history(query: HistoryQuery, call?: CallOptions): Promise<HistoryPage> {
    const { data, headers } = await this.#requests.page<Insight>(insightsPath(withTexts(query)), call);
    return { data, cursor: linkedCursor(headers) };
  }

  /** Health of the ingest and subscribe sockets. */
  health(call?: CallOptions): Promise<Health> {
    return this.#requests.object('GET', '/v1/stream/health', call);
  }
}

/** The device models of the account. */
class DeviceModels {
  /** @internal */
  constructor(private readonly requests: Requests) {}

  /**
   * Creates a device model. Rejects with ValidationError, or with ConflictError if the account has the maximum number
   * of models.
   */
  create(body: NewDeviceModel | DeviceModelDraft, call?: CreateOptions): Promise<DeviceModel> {
    return this.requests.object('POST', MODELS, call, body);
  }

  /** All models of the account, oldest first. */
  list(call?: CallOptions): Promise<DeviceModel[]> {
    return this.requests.list(MODELS, call);
  }

  /** One device model. Rejects with NotFoundError, or PermissionError if it belongs to another account. */
  async get(id: string, call?: CallOptions): Promise<DeviceModel> {
    return this.requests.object('GET', MODELS + idText(id), call);
  }

  /** Changes the given fields; channels are changed or added, never removed. */
  async update(id: string, body: DeviceModelChange, call?: CallOptions): Promise<DeviceModel> {
    return this.requests.object('PUT', MODELS + idText(id), call, body);
  }

  /** Rejects with ConflictError while a device references the model. */
  async delete(id: string, call?: CallOptions): Promise<void> {
    return this.requests.delete(MODELS + idText(id), call);
  }
}

/** The modality channels of a device model. */
class Modalities {
  /** @internal */
  constructor(private readonly requests: Requests) {}

  /** The channels of a device model, in the order of their indices. */
  async list(deviceModelId: string, call?: CallOptions): Promise<ModalityChannel[]> {
    return this.requests.list(modalityPath(deviceModelId), call);
  }

  /** Adds a channel to a device model, as its last. */
  async create(deviceModelId: string, body: NewModalityChannel, call?: CreateOptions): Promise<ModalityChannel> {
    return this.requests.object('POST', modalityPath(deviceModelId), call, body);
  }

  /** Changes the given fields of a channel. */
  async update(
    deviceModelId: string,
    channelId: string,
    body: ModalityChannelChange,
    call?: CallOptions,
  ): Promise<ModalityChannel> {
    return this.requests.object('PUT', modalityPath(deviceModelId) + idText(channelId), call, body);
  }

  /** Removes a channel; the indices of those after it become smaller. */
  async delete(deviceModelId: string, channelId: string, call?: CallOptions): Promise<void> {
    return this.requests.delete(modalityPath(deviceModelId) + idText(channelId), call);
  }
}

function modalityPath(deviceModelId: string): string {
  return `${MODELS}${idText(deviceModelId)}/modalities`;
}

/** The sessions that the key may see. */
class Sessions {
  /** @internal */
  constructor(private readonly requests: Requests) {}

  /** Sessions, newest first. A TypeError names an option that does not exist. */
  list(query: SessionsQuery = {}, call?: CallOptions): Listing<Session> {
    checkNames('sessions.list', query, SESSIONS_QUERY);
    const texts = withTexts(query);
    const read = (at: At) => this.requests.page<Session>(`/v1/sessions${queryText({ ...texts, ...at })}`, call);
    return new Listing(read, false, call?.signal);
  }

  /** One session. Rejects with NotFoundError, or PermissionError if the key may not see it. */
  async get(id: string, call?: CallOptions): Promise<Session> {
    return this.requests.object('GET', `/v1/sessions${idText(id)}`, call);
  }

  /** All stored insights of a session, in chronological order. */
  async insights(id: string, call?: CallOptions): Promise<Insight[]> {
    return this.requests.list(`/v1/sessions${idText(id)}/insights`, call);
  }
}

/** The stored insights that the key may see. */
class Insights {
  /** @internal */
  constructor(private readonly requests: Requests) {}

  /**
   * Stored insights across sessions: from `since` or `data_since` on, oldest first, or without them back from the newest. A TypeError
   * names an option that does not exist; a RangeError refuses times that are not in ms.
   */
  list(query: InsightsQuery = {}, call?: CallOptions): Listing<Insight> {
    checkNames('insights.list', query, INSIGHTS_QUERY);
    const texts = withTexts(query);
    const read = (at: At) => this.requests.page<Insight>(insightsPath({ ...texts, ...at }), call);
    const start = (query.data_since ?? query.data_until) === undefined ? query.since : query.data_since;
    return new Listing(read, start === undefined, call?.signal);
  }
}

function insightsPath(query: object): string {
  return `/v1/insights${queryText({ ...query })}`;
}

/** @throws RangeError for instants that are not in ms */
function withTexts<Query extends { readonly [name in InstantName]?: Instant }>(query: Query): object {
  return { ...query, ...Object.fromEntries(INSTANTS.map((name) => [name, instantText(name, query[name])])) };
}

/** The algorithms of the service. */
class Algos {
  /** @internal */
  constructor(private readonly requests: Requests) {}

  /** The algorithms that the account is entitled to. */
  list(call?: CallOptions): Promise<Algorithm[]> {
    return this.requests.list('/v1/algos', call);
  }
}

/**
 * 128 random bits, hex. `crypto.randomUUID` is missing on pages that are not served securely, and React Native has no
 * `crypto`: a key need not be secret, only unlike the account's others.
 */
function randomKey(): string {
  const random =
    globalThis.crypto?.getRandomValues(new Uint8Array(16)) ?? Array.from({ length: 16 }, () => 256 * Math.random());
  return Array.from(random, (byte) => (byte | 256).toString(16).slice(1)).join('');
}
