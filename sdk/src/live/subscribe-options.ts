import { hasForm, listOf } from '../json.js';
import { atLeast, isDeviceId, type Rule, type Rules } from '../options.js';
import type { ConnectionStatus } from '../socket/connection.js';
import {
  INSIGHT_TYPES,
  type InsightType,
  isInsightType,
  type LiveInsight,
  SQI_CLASSES,
  type SqiClass,
} from './insight.js';

/** Selects insights; each list defaults to all. */
export interface LiveFilter {
  /** Identifiers of devices. */
  readonly devices?: readonly string[];
  /** Ids of sessions. */
  readonly sessions?: readonly string[];
  /** Types of insights. */
  readonly types?: readonly InsightType[];
  /** Minimum quality: `acceptable` leaves out the `unfit` ones. */
  readonly quality?: SqiClass;
}

/** A period whose insights may be missing, ms since the epoch. */
export interface Hole {
  /** Its beginning. */
  readonly since: number;
  /** Its end. */
  readonly until: number;
  /** The service's refusal, or that its clocks differ. */
  readonly cause: Error;
}

/** The selection of live insights, and the limits and callbacks of a subscription. */
export interface SubscribeOptions extends LiveFilter {
  /** Ends the subscription: its iteration throws the signal's reason, as every call does. `close()` ends it without an error. */
  readonly signal?: AbortSignal;
  /**
   * Maximum number of insights that wait for a slow consumer; beyond it the socket is closed, and later insights are read by REST.
   * Default 10,000, at least 1.
   */
  readonly buffer?: number;
  /**
   * Called with each period that could not be repaired after a lost connection, because the service refused the
   * request, or because the clocks of its gateways differ by more than an hour.
   */
  readonly onHole?: (hole: Hole) => void;
  /**
   * Called at each change of the subscription's state, with the last error and the time of the next attempt. What it
   * throws ends the subscription, and is thrown by its iteration.
   */
  readonly onStatus?: (status: ConnectionStatus) => void;
  /**
   * Maximum time until the service confirms the subscription for the first time, over all attempts, ms; then the
   * subscription ends with a ConnectionError. Once confirmed, it reconnects however long the service is away. Infinity
   * waits without limit. Default 10,000.
   */
  readonly connectWithinMs?: number;
}

const LIST: Rule = ['an array', (list = []) => Array.isArray(list)];

export const OPTIONS: Rules<SubscribeOptions> = {
  devices: ['an array of ids of devices', (ids = []) => hasForm(ids, listOf(isDeviceId))],
  sessions: LIST,
  types: [`an array of ${INSIGHT_TYPES.join(', ')}`, (types = []) => hasForm(types, listOf(isInsightType))],
  quality: [`one of ${SQI_CLASSES.join(', ')}`, (quality = 'unfit') => SQI_CLASSES.includes(quality as SqiClass)],
  signal: true,
  buffer: atLeast(1),
  onHole: true,
  onStatus: true,
  connectWithinMs: atLeast(1),
};

/** Whether a subscription with these options delivers the insight. */
export function isWanted(insight: LiveInsight, { devices, sessions, types, quality = 'unfit' }: LiveFilter): boolean {
  return (
    (devices?.includes(insight.device_id) ?? true) &&
    (sessions?.includes(insight.session_id) ?? true) &&
    (types?.includes(insight.type) ?? true) &&
    SQI_CLASSES.indexOf(insight.sqi_class) >= SQI_CLASSES.indexOf(quality)
  );
}
