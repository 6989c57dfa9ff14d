import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Heartbeats } from '../peers/heartbeats.js';
import type { Publisher } from '../publisher/publisher.js';
import type { GatewayStore, Session } from '../store/store.js';

interface OwnersOptions {
  readonly store: Pick<GatewayStore, 'openSessionsOfOthers'>;
  readonly heartbeats: Heartbeats;
  readonly publisher: Pick<Publisher, 'declareLoss'>;
  readonly clock: Clock;
  /** This process as owner of sessions. */
  readonly gateway: string;
  /** How long a session stays open without a connection, ms. */
  readonly graceMs: number;
}

/** A gateway never counts as dead before this time, ms: its heartbeat is due every second, and may be late. */
const LEAST_SILENCE_MS = 5000;
/** The previous owner of a session counts as dead for its take-over if its heartbeat has not changed for this long, ms. */
const DYING_MS = 2500;
/** Interval at which a heartbeat is checked, and longest wait if the store does not answer, ms. */
const BEAT_LOOK_MS = 200;
const BEAT_WAIT_MS = 10_000;
/** Number of announced losses that are remembered. */
const MAX_DECLARED = 10_000;

/** The other gateways as owners of sessions: whether they are alive, and what those that are dead may have lost. */
export class Owners {
  /** Losses that were announced, by owner and account, with the owner's last heartbeat. */
  readonly #declared = new Map<string, number | undefined>();

  constructor(private readonly options: OwnersOptions) {}

  /**
   * Resolves once the insights that the previous owner of a claimed session stored are published: when that owner is
   * alive, or its loss has been announced. Null if the owner recorded that nothing was left.
   */
  left(row: Session): Promise<void> | null {
    if (row.gateway === this.options.gateway || wasHandedOver(row)) return null;
    return this.#livesOn(row.gateway).then((lives) => {
      if (!lives) this.declareLoss(row);
    });
  }

  /**
   * Announces that a dead owner may have stored insights without publishing them, unless it recorded that nothing was
   * left: once for each account and death.
   */
  declareLoss(row: Session): void {
    if (wasHandedOver(row)) return;
    const [death, beat] = [`${row.gateway} ${row.accountId}`, this.options.heartbeats.beatOf(row.gateway)];
    if (this.#declared.has(death) && this.#declared.get(death) === beat) return;
    if (this.#declared.size >= MAX_DECLARED) this.#declared.clear();
    this.#declared.set(death, beat);
    this.options.publisher.declareLoss(row.accountId);
  }

  /** Whether the owner of a session is dead. Rejects as the store does. */
  async isOrphan({ gateway }: Session): Promise<boolean> {
    if (gateway === this.options.gateway) return false;
    await this.options.heartbeats.look();
    return this.options.heartbeats.silenceOf(gateway) > this.#deadAfterMs;
  }

  /** The open sessions whose owners are dead. Rejects as the store does. */
  async orphans(): Promise<Session[]> {
    await this.options.heartbeats.look();
    if (this.options.heartbeats.observedFor < LEAST_SILENCE_MS) return [];
    const others = await this.options.store.openSessionsOfOthers(this.#alive());
    if (others.length === 0) return [];
    await this.options.heartbeats.look(); // A gateway may have begun meanwhile: its heartbeat precedes its sessions.
    const alive = new Set(this.#alive());
    return others.filter(({ gateway }) => !alive.has(gateway));
  }

  /** Gateways that keep their sessions: a gateway counts as silent only after it has been observed for a while. */
  #alive(): string[] {
    return [this.options.gateway, ...this.options.heartbeats.notSilentFor(this.#deadAfterMs, LEAST_SILENCE_MS)];
  }

  /**
   * Gateways that have been silent for longer than this are dead, and the grace period of their sessions has passed,
   * ms.
   */
  get #deadAfterMs(): number {
    return Math.max(this.options.graceMs, LEAST_SILENCE_MS);
  }

  /** Whether a gateway's heartbeat changes from now on. */
  async #livesOn(gateway: string): Promise<boolean> {
    const { clock } = this.options;
    const end = clock.monotonic() + BEAT_WAIT_MS;
    const look = () => this.options.heartbeats.look().catch(() => undefined);
    await look();
    const beat = this.options.heartbeats.beatOf(gateway);
    while (this.options.heartbeats.silenceOf(gateway) <= DYING_MS && clock.monotonic() < end) {
      await new Promise<void>((resolve) => clock.after(BEAT_LOOK_MS, resolve));
      await look();
      if (this.options.heartbeats.beatOf(gateway) !== beat) return true;
    }
    return false;
  }
}

function wasHandedOver({ epoch, progress }: Session): boolean {
  return progress.handedOverBy === epoch;
}
