/**
 * This process among other proxies over one database: it joins, renews its lease, takes duties, and gives up dead ones.
 * Owns its id and the loop; users of shared state query it. Must not depend on the clock of a host.
 */
import type { Duty, PeerFacts, ProxyPeers } from '../../ports/proxy-peers.ts';
import type { ConfigurationStanding } from '../../ports/shared-configuration.ts';
import type { SpendLeases } from '../../ports/spend-leases.ts';
import { FORMER_NAMES_MAX, PEER_BEAT_MS, PEER_LEASE_MARGIN_MS, PEER_LEASE_MS } from '../limits.ts';
import type { ProxyLog } from '../log.ts';
import type { LeaseGround } from '../spend/leased-account.ts';

export interface PeerLifeOptions {
  readonly peers: ProxyPeers;
  readonly leases: SpendLeases;
  readonly clock: { now(): number };
  readonly newId: () => string;
  readonly log: ProxyLog;
  readonly facts: PeerFacts;
  /** What it does for all proxies where no other does. */
  readonly duties: readonly Duty[];
  /** Recovers what dead proxies left on this host: at the start, when one was given up, and periodically. */
  readonly tendOrphans?: () => Promise<void>;
}

/** The proxy of this process. */
export interface PeerListener {
  /** A key or a model was changed somewhere, or the proxy has just joined; `isFirst`: no other serves. */
  readonly onChange: (isFirst: boolean) => Promise<void>;
  /** Others take over its shares and duties; it goes on under another id. */
  readonly onLost: () => void;
}

/** What this process has of the shared configuration. */
export interface ConfigurationFollower {
  readonly standing: ConfigurationStanding;
  /** At every beat, with the newest version there is. */
  look(newest: number): Promise<void>;
}

/** Beats between checks of calls under a former id, and of spools that no proxy has drained. */
const TEND_EVERY_BEATS = 30;

/** The lease of one process among those that share a database, and the duties that it leads by it. */
export class PeerLife implements LeaseGround {
  readonly leases: SpendLeases;
  private readonly options: PeerLifeOptions;
  private id: string;
  private heldUntil = -Infinity;
  private hasJoined = false;
  private revision = -1;
  private led: readonly Duty[] = [];
  private listener: PeerListener | null = null;
  private follower: ConfigurationFollower | null = null;
  private former: string[] = [];
  private beats = 0;
  private timer: NodeJS.Timeout | null = null;
  private beating: Promise<void> | null = null;
  private isStopped = false;

  constructor(options: PeerLifeOptions) {
    this.options = options;
    this.leases = options.leases;
    this.id = options.newId();
  }

  /** Before it is started. */
  serve(listener: PeerListener): void {
    this.listener = listener;
  }

  /** From the next beat on. */
  follow(follower: ConfigurationFollower): void {
    this.follower = follower;
  }

  /** Whether this process leads a duty now. After a stall longer than its lease, it must renew first. */
  leads(duty: Duty): boolean {
    return this.isHeld() && this.led.includes(duty);
  }

  holder(): string {
    return this.id;
  }

  isHeld(): boolean {
    return this.now() < this.heldUntil;
  }

  now(): number {
    return performance.now();
  }

  /** Takes a new id: rows of calls in flight keep the former one. */
  lost(): void {
    if (!this.hasJoined) return;
    this.former = [...this.former, this.id].slice(-FORMER_NAMES_MAX);
    this.options.log.error({ proxy: this.id }, 'The proxy was given up by the others: it joins them anew');
    this.id = this.options.newId();
    this.hasJoined = false;
    this.heldUntil = -Infinity;
    this.led = [];
    this.listener?.onLost();
  }

  /** Joins, and goes on until it is stopped; while the database is away, it tries again. */
  async start(): Promise<void> {
    await this.beat();
    this.arm();
  }

  /** Called once nothing more is written, so that no other proxy has to wait for its lease to end. */
  async stop(): Promise<void> {
    this.isStopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.beating;
    const { peers, clock, log } = this.options;
    await peers.retire(this.id, clock.now()).catch((cause: unknown) => {
      log.warn({ cause: String(cause) }, 'Cannot leave the other proxies: the lease ends by itself');
    });
  }

  /** Notifies the other proxies; after a failure they see the change when they read the key again. */
  async announce(): Promise<void> {
    await this.options.peers.announce();
  }

  private arm(): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      void this.beat().finally(() => this.arm());
    }, PEER_BEAT_MS);
    this.timer.unref();
  }

  private beat(): Promise<void> {
    this.beating ??= this.once()
      .catch((cause: unknown) => {
        const message = 'Cannot renew the lease of the proxy: budgets wait until the database is back';
        this.options.log.warn({ cause: String(cause) }, message);
      })
      .finally(() => {
        this.beating = null;
      });
    return this.beating;
  }

  private async once(): Promise<void> {
    const { peers, facts, duties } = this.options;
    if (!this.hasJoined) {
      const sentAt = this.now();
      const isFirst = await peers.join(this.id, PEER_LEASE_MS, facts);
      this.hasJoined = true;
      this.heldUntil = sentAt + PEER_LEASE_MS - PEER_LEASE_MARGIN_MS;
      await this.listener?.onChange(isFirst && this.beats === 0);
    }
    const sentAt = this.now();
    const news = await peers.beat(this.id, PEER_LEASE_MS, duties, this.follower?.standing);
    this.beats += 1;
    if (!news.isKnown) {
      this.lost();
      return;
    }
    this.heldUntil = sentAt + PEER_LEASE_MS - PEER_LEASE_MARGIN_MS;
    this.led = news.leads;
    if (news.revision !== this.revision) {
      await this.listener?.onChange(false);
      // Set last, so that a failed read is repeated at the next beat.
      this.revision = news.revision;
    }
    await this.follower?.look(news.configuration);
    await this.retire(news.expired);
    if (news.expired.length > 0 || this.beats % TEND_EVERY_BEATS === 1) await this.tend();
  }

  private async retire(ids: readonly string[]): Promise<void> {
    const { peers, clock, log } = this.options;
    for (const id of ids) {
      await peers.retire(id, clock.now());
      log.warn({ proxy: id }, 'A proxy is dead: what it held of shared limits is free again');
    }
  }

  private async tend(): Promise<void> {
    for (const one of this.former) await this.options.leases.settle(one);
    await this.options.tendOrphans?.();
  }
}
