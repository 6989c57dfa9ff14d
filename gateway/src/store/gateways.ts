import type { Session } from './sessions.js';

/** Number of take-overs of a session that are remembered until the previous gateway asks for them. */
export const TAKEOVERS_KEPT = 20;

/** The heartbeats of gateways, and the sessions that they lose or find. */
export interface GatewayStore {
  /**
   * Sessions that were taken over from this gateway since its last call, of the newest 20 take-overs of each session;
   * `epoch` is the new owner's.
   */
  takenSessions(gateway: string): Promise<{ id: string; epoch: number }[]>;
  /** Open sessions whose owner is none of these gateways, oldest first. */
  openSessionsOfOthers(gateways: readonly string[]): Promise<Session[]>;
  /** Writes the heartbeat of this gateway; called once a second. */
  beat(gateway: string, at: number): Promise<void>;
  /** The newest heartbeat of each gateway that was not forgotten. */
  beats(): Promise<ReadonlyMap<string, number>>;
  /** Time of the server's own clock, ms since the epoch; null for the embedded store, which has none. */
  serverTime(): Promise<number | null>;
  /** Deletes the heartbeats older than `before`. A gateway that is alive writes its own again. */
  forgetGateways(before: number): Promise<void>;
}
