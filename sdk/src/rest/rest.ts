import type { DeviceModelDraft } from '../device/device-model.js';
import { createClient } from '../generated/client/index.js';
import * as operations from '../generated/sdk.gen.js';
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
import { parseAccess } from '../socket/service-address.js';
import { ConnectionError, ForeignAnswer } from './api-error.js';
import type { HistoryPage, HistoryQuery } from './history.js';
import { expectJson, type HttpOptions, retryingFetch } from './http.js';
import { Listing, linkedCursor } from './page.js';

/** The service's address, the key, and the settings of requests. */
export interface RestOptions extends HttpOptions {
  /** The service's address, such as `https://insights.example`; without `/v1`. A TypeError says what is wrong with it. */
  readonly baseUrl: string;
  /** An API key of the service, `svc_…`. A TypeError says what is wrong with it. */
  readonly apiKey: string;
}

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Options of a call that creates. */
export interface CreateOptions extends CallOptions {
  /** Makes a repetition of the same create give the first response. Default: a random one for each call. */
  readonly idempotencyKey?: string;
}

/** An instant: a Date, ms since the epoch, or an RFC 3339 text with an offset, such as `2026-01-31T08:00:00Z`. */
export type Instant = Date | number | string;

/** Selects sessions: `status`, `limit` (default 50, at most 200) and `cursor`. */
export type SessionsQuery = NonNullable<ListSessionsData['query']>;
/** Selects stored insights: also `type`, `limit` (rows of a page, default 100, at most 1000) and `cursor`. */
export interface InsightsQuery extends Omit<NonNullable<ListInsightsData['query']>, 'since' | 'until'> {
  /** Only insights published at or after this instant; the rows then start there, otherwise the newest come first. */
  readonly since?: Instant;
  /** Only insights published before this instant. */
  readonly until?: Instant;
}

/**
 * The common options of every operation: this service, this key, retries, and errors thrown, also for an answer that is
 * not a list or not an object.
 */
type Send = <Data>(
  run: (base: BaseOptions) => Promise<Answer<Data>>,
  call: CallOptions,
  shape?: 'list' | 'object',
) => Promise<Answer<Data>>;
interface Answer<Data> {
  readonly data: Data;
  readonly request: Request;
  readonly response: Response;
}
interface BaseOptions {
  client: ReturnType<typeof createClient>;
  throwOnError: true;
  signal?: AbortSignal;
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
  readonly #send: Send;

  constructor(options: RestOptions) {
    this.#send = sender(options);
    this.deviceModels = new DeviceModels(this.#send);
    this.modalities = new Modalities(this.#send);
    this.sessions = new Sessions(this.#send);
    this.insights = new Insights(this.#send);
    this.algos = new Algos(this.#send);
  }

  /** @internal Reads a page of stored insights for the repair of a live subscription. */
  history(query: HistoryQuery, call: CallOptions = {}): Promise<HistoryPage> {
    return historyPage(this.#send, query, call);
  }

  /** Health of the ingest and subscribe sockets. */
  async health(call: CallOptions = {}): Promise<Health> {
    return (await this.#send(operations.getHealth<true>, call)).data;
  }
}

function sender({ baseUrl: address, apiKey: key, ...http }: RestOptions): Send {
  const { baseUrl, apiKey } = parseAccess({ baseUrl: address, apiKey: key });
  const run = retryingFetch(http);
  const client = createClient({
    baseUrl,
    auth: apiKey,
    requestValidator: async (request) => prepare(request as RequestParts),
    fetch: async (request) => expectJson(await run(request as Request), request as Request),
  });
  return async (operation, { signal }, shape = 'object') => {
    const answer = await operation({ client, throwOnError: true, ...(signal && { signal }) }).catch(
      (cause: unknown) => {
        if (!(cause instanceof SyntaxError)) throw cause;
        throw new ConnectionError(`the answer from ${baseUrl} is not JSON: check baseUrl`, { cause });
      },
    );
    const { data, request, response } = answer;
    const isRight = shape === 'list' ? Array.isArray(data) && data.every(isObject) : isObject(data);
    if (!isRight) throw new ForeignAnswer(request, response, `, which is no ${shape}`);
    return answer;
  };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface RequestParts {
  client?: unknown;
  readonly path?: Readonly<Record<string, unknown>>;
}

/**
 * Checks and cleans a request of the generated client.
 *
 * @throws TypeError for an id that would change the address of the request
 */
function prepare(request: RequestParts): void {
  // It goes into the RequestInit, where Deno expects an HTTP client of its own under this name.
  delete request.client;
  for (const id of Object.values(request.path ?? {}))
    if (/^\.{0,2}$/.test(String(id))) throw new TypeError(`an id must not be "${id}"`);
}

/** The device models of the account. */
class DeviceModels {
  /** @internal */
  constructor(private readonly send: Send) {}

  /**
   * Creates a device model. Rejects with ValidationError, or with ConflictError if the account has the maximum number
   * of models.
   */
  async create(body: NewDeviceModel | DeviceModelDraft, call: CreateOptions = {}): Promise<DeviceModel> {
    return (await this.send((base) => operations.createDeviceModel({ ...base, body, headers: idempotent(call) }), call))
      .data;
  }

  /** All models of the account, oldest first. */
  async list(call: CallOptions = {}): Promise<DeviceModel[]> {
    return (await this.send(operations.listDeviceModels<true>, call, 'list')).data;
  }

  /** One device model. Rejects with NotFoundError, or PermissionError if it belongs to another account. */
  async get(id: string, call: CallOptions = {}): Promise<DeviceModel> {
    return (await this.send((base) => operations.getDeviceModel({ ...base, path: { id } }), call)).data;
  }

  /** Changes the given fields; channels are changed or added, never removed. */
  async update(id: string, body: DeviceModelChange, call: CallOptions = {}): Promise<DeviceModel> {
    return (await this.send((base) => operations.updateDeviceModel({ ...base, path: { id }, body }), call)).data;
  }

  /** Rejects with ConflictError while a device references the model. */
  async delete(id: string, call: CallOptions = {}): Promise<void> {
    await this.send((base) => operations.deleteDeviceModel({ ...base, path: { id } }), call);
  }
}

/** The modality channels of a device model. */
class Modalities {
  /** @internal */
  constructor(private readonly send: Send) {}

  /** The channels of a device model, in the order of their indices. */
  async list(deviceModelId: string, call: CallOptions = {}): Promise<ModalityChannel[]> {
    return (
      await this.send((base) => operations.listModalities({ ...base, path: { dm_id: deviceModelId } }), call, 'list')
    ).data;
  }

  /** Adds a channel to a device model, as its last. */
  async create(deviceModelId: string, body: NewModalityChannel, call: CreateOptions = {}): Promise<ModalityChannel> {
    const path = { dm_id: deviceModelId };
    return (
      await this.send((base) => operations.createModality({ ...base, path, body, headers: idempotent(call) }), call)
    ).data;
  }

  /** Changes the given fields of a channel. */
  async update(
    deviceModelId: string,
    channelId: string,
    body: ModalityChannelChange,
    call: CallOptions = {},
  ): Promise<ModalityChannel> {
    const path = { dm_id: deviceModelId, ch_id: channelId };
    return (await this.send((base) => operations.updateModality({ ...base, path, body }), call)).data;
  }

  /** Removes a channel; the indices of those after it become smaller. */
  async delete(deviceModelId: string, channelId: string, call: CallOptions = {}): Promise<void> {
    await this.send(
      (base) => operations.deleteModality({ ...base, path: { dm_id: deviceModelId, ch_id: channelId } }),
      call,
    );
  }
}

/** The sessions that the key may see. */
class Sessions {
  /** @internal */
  constructor(private readonly send: Send) {}

  /** Sessions, newest first. */
  list(query: SessionsQuery = {}, call: CallOptions = {}): Listing<Session> {
    return new Listing(
      (at) => this.send((base) => operations.listSessions({ ...base, query: { ...query, ...at } }), call, 'list'),
      false,
    );
  }

  /** One session. Rejects with NotFoundError, or PermissionError if the key may not see it. */
  async get(id: string, call: CallOptions = {}): Promise<Session> {
    return (await this.send((base) => operations.getSession({ ...base, path: { id } }), call)).data;
  }

  /** All stored insights of a session, in chronological order. */
  async insights(id: string, call: CallOptions = {}): Promise<Insight[]> {
    return (await this.send((base) => operations.listSessionInsights({ ...base, path: { id } }), call, 'list')).data;
  }
}

/** The stored insights that the key may see. */
class Insights {
  /** @internal */
  constructor(private readonly send: Send) {}

  /** Stored insights across sessions: from `since` on, oldest first, or without it back from the newest. */
  list(asked: InsightsQuery = {}, call: CallOptions = {}): Listing<Insight> {
    const query = withInstants(asked);
    return new Listing(
      (at) => this.send((base) => operations.listInsights({ ...base, query: { ...query, ...at } }), call, 'list'),
      asked.since === undefined,
    );
  }
}

async function historyPage(send: Send, asked: HistoryQuery, call: CallOptions): Promise<HistoryPage> {
  const query = withInstants(asked);
  const { data, response } = await send((base) => operations.listInsights({ ...base, query }), call, 'list');
  return { data, cursor: linkedCursor(response) };
}

/** The algorithms of the service. */
class Algos {
  /** @internal */
  constructor(private readonly send: Send) {}

  /** The algorithms that the account is entitled to. */
  async list(call: CallOptions = {}): Promise<Algorithm[]> {
    return (await this.send(operations.listAlgorithms<true>, call, 'list')).data;
  }
}

/** The query with its instants as texts. */
function withInstants<Query extends { readonly since?: Instant; readonly until?: Instant }>({
  since,
  until,
  ...rest
}: Query) {
  return {
    ...rest,
    ...(since !== undefined && { since: isoText(since) }),
    ...(until !== undefined && { until: isoText(until) }),
  };
}

function isoText(instant: Instant): string {
  return typeof instant === 'string' ? instant : new Date(instant).toISOString();
}

function idempotent({ idempotencyKey }: CreateOptions): { 'Idempotency-Key': string } {
  return { 'Idempotency-Key': idempotencyKey ?? randomKey() };
}

/** 128 random bits, hex; `crypto.randomUUID` is missing on pages that are not served securely. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
