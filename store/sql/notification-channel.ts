/**
 * Receives notifications from other sessions of a PostgreSQL server, on one connection of its own per process.
 * Owns that it reconnects after an outage, and reports its state; notifications during an outage are lost.
 */
import pg from 'pg';
import { clientConfig, type PostgresServer } from './postgres-pool.ts';

export interface HeardNotifications {
  onPayload(payload: string): void;
  /** True once notifications from now on are received, false when that has ended. */
  onListening(isListening: boolean): void;
}

export interface NotificationChannel {
  readonly name: string;
  /** Connects, and stays connected. Once. */
  open(heard: HeardNotifications): void;
  /** For listeners that missed something: the connection may be dead without notice. */
  reopen(): void;
  close(): Promise<void>;
}

const AGAIN_MS = 250;
const AGAIN_MS_MAX = 5_000;
/** A plain name, because it becomes part of SQL. */
const NAME = /^[a-z_]{1,40}$/;

export function notificationChannel(server: PostgresServer, name: string): NotificationChannel {
  if (!NAME.test(name)) throw new Error(`Cannot listen on the channel "${name}": it is no plain name`);
  return new Channel(server, name);
}

class Channel implements NotificationChannel {
  readonly name: string;
  private readonly server: PostgresServer;
  private heard: HeardNotifications | null = null;
  private client: pg.Client | null = null;
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;
  private isClosed = false;

  constructor(server: PostgresServer, name: string) {
    this.server = server;
    this.name = name;
  }

  open(heard: HeardNotifications): void {
    if (this.heard !== null || this.isClosed) return;
    this.heard = heard;
    void this.connect();
  }

  reopen(): void {
    // The `end` event then reconnects as after an outage.
    void this.client?.end().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.client?.end().catch(() => undefined);
  }

  /** Never rejects: without it listeners poll. */
  private async connect(): Promise<void> {
    const client = new pg.Client(clientConfig(this.server, 'parley listener'));
    this.client = client;
    client.on('error', () => undefined);
    client.on('notification', ({ payload }) => this.heard?.onPayload(payload ?? ''));
    client.once('end', () => this.ended());
    try {
      await client.connect();
      await client.query(`listen ${this.name}`);
    } catch {
      await client.end().catch(() => undefined);
      // A client that never connected emits no `end`.
      this.ended();
      return;
    }
    if (this.client !== client) return;
    this.failures = 0;
    this.heard?.onListening(true);
  }

  private ended(): void {
    if (this.client === null) return;
    this.client = null;
    this.heard?.onListening(false);
    if (this.isClosed) return;
    const waitMs = Math.min(AGAIN_MS * 2 ** Math.min(this.failures, 8), AGAIN_MS_MAX);
    this.failures += 1;
    this.timer = setTimeout(() => void this.connect(), waitMs).unref();
  }
}
