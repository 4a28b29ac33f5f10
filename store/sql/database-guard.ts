/**
 * One engine per PostgreSQL database: an advisory lock that a connection of its own holds.
 * Owns taking it, seeing it lost, and that a process that lost it writes no more. Engines on Temporal share it, because their
 * server orders what they do; the embedded engine has it alone.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { ParleyError } from '../../core/parley-error.ts';
import { placeOf } from './postgres-address.ts';
import { explained, isLost } from './postgres-failure.ts';
import { clientConfig, type PoolUse, type PostgresServer } from './postgres-pool.ts';

export type GuardMode = 'alone' | 'shared';

export interface DatabaseGuard {
  /** For the pool of the engine that holds the guard. */
  readonly use: PoolUse;
  release(): Promise<void>;
}

export interface GuardOptions {
  readonly mode: GuardMode;
  /** Another engine has the database now, or the server did not come back: this one must end. */
  onLost(error: ParleyError): void;
}

/** Beside those of connection.ts; a schema of its own has an owner of its own. */
const LOCKS = { whole: 7_003, schema: 7_005 } as const;
/** The server sees within this time that a process it served is dead. */
const TAKE_MS_MAX = 2_000;
const TAKE_AGAIN_MS = 200;
/** A server that restarts is back within this time; callers wait so long. */
const BACK_MS_MAX = 60_000;
const BACK_POLL_MS = 500;
/** Of a host that is gone without a word, the server hears nothing: it asks after 30 s, and three times. */
const KEEP_ALIVE =
  'set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3';
/** Begins the name of every connection of an engine that has the database alone. */
const ALONE = { whole: 'parley engine ', schema: 'parley proxy ' } as const;

/**
 * Takes the database for an engine.
 * @throws ParleyError data_directory_locked when another engine has it; store_unavailable
 */
export async function guardDatabase(server: PostgresServer, options: GuardOptions): Promise<DatabaseGuard> {
  const guard = new Guard(server, options);
  await guard.take();
  return guard;
}

class Guard implements DatabaseGuard {
  private readonly server: PostgresServer;
  private readonly options: GuardOptions;
  private readonly name: string;
  private readonly part: 'whole' | 'schema';
  /** The connection that holds the lock, and its number on the server. */
  private held: { readonly client: pg.Client; readonly pid: number } | null = null;
  private isReleased = false;
  private returning: Promise<void> | null = null;

  constructor(server: PostgresServer, options: GuardOptions) {
    this.server = server;
    this.options = options;
    const own = randomBytes(4).toString('hex');
    this.part = server.schema === null ? 'whole' : 'schema';
    this.name = options.mode === 'alone' ? `${ALONE[this.part]}${own}` : `parley ${own}`;
  }

  get use(): PoolUse {
    return { readOnly: false, name: this.name, admit: (client) => this.admit(client) };
  }

  async take(): Promise<void> {
    const client = new pg.Client({ ...clientConfig(this.server, `parley guard ${this.name.slice(-8)}`) });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(KEEP_ALIVE);
      await this.lock(client);
      await this.endForeign(client);
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      this.held = { client, pid: rows[0]?.pid ?? 0 };
    } catch (error) {
      await client.end().catch(() => undefined);
      throw explained(error, this.server);
    }
    client.once('end', () => this.comeBack());
  }

  async release(): Promise<void> {
    this.isReleased = true;
    await this.held?.client.end().catch(() => undefined);
    this.held = null;
  }

  /** The lock of a process that was killed a moment ago is still there for a moment. */
  private async lock(client: pg.Client): Promise<void> {
    const lock = this.options.mode === 'alone' ? 'pg_try_advisory_lock' : 'pg_try_advisory_lock_shared';
    for (let waitedMs = 0; ; waitedMs += TAKE_AGAIN_MS) {
      const { rows } = await client.query<{ taken: boolean }>(`select ${lock}(${LOCKS[this.part]}) as taken`);
      if (rows[0]?.taken === true) return;
      if (waitedMs >= TAKE_MS_MAX) throw await taken(client, this.server, LOCKS[this.part]);
      await pause(TAKE_AGAIN_MS);
    }
  }

  /**
   * An engine that lost the lock without having seen it may still have connections: they end here, and a new one of
   * it is not admitted.
   */
  private async endForeign(client: pg.Client): Promise<void> {
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and usename = current_user
          and starts_with(application_name, $1) and application_name <> $2`,
      [ALONE[this.part], this.name],
    );
  }

  /** @throws Error the lock is not this process's any more */
  private async admit(client: pg.ClientBase): Promise<void> {
    await this.returning;
    const { rows } = await client.query<{ held: boolean }>(
      `select exists (select 1 from pg_locks where locktype = 'advisory' and objid = ${LOCKS[this.part]}
         and objsubid = 1 and granted and pid = $1) as held`,
      [this.held?.pid ?? 0],
    );
    if (rows[0]?.held !== true) throw new Error('Connection terminated: the guard of the database was lost');
  }

  private comeBack(): void {
    this.held = null;
    if (this.isReleased) return;
    this.returning = this.takeAgain().finally(() => {
      this.returning = null;
    });
  }

  private async takeAgain(): Promise<void> {
    for (let waitedMs = 0; !this.isReleased; waitedMs += BACK_POLL_MS) {
      try {
        await this.take();
        return;
      } catch (error) {
        const refused = explained(error, this.server);
        if (!isLost(refused.cause) || waitedMs >= BACK_MS_MAX) return this.options.onLost(refused);
      }
      await pause(BACK_POLL_MS);
    }
  }
}

async function taken(client: pg.Client, { address }: PostgresServer, lock: number): Promise<ParleyError> {
  const { rows } = await client.query<{ pid: number; host: string | null; since: Date }>(
    `select a.pid, host(a.client_addr) as host, a.backend_start as since from pg_locks l
       join pg_stat_activity a on a.pid = l.pid
       where l.locktype = 'advisory' and l.objid = ${lock} and l.objsubid = 1 and l.granted
         and l.database = (select oid from pg_database where datname = current_database()) limit 1`,
  );
  const [owner] = rows;
  const whose =
    owner === undefined ? 'another engine' : `an engine on ${owner.host ?? 'the host of the server'}`;
  const since = owner === undefined ? '' : ` since ${owner.since.toISOString()}`;
  return new ParleyError(
    'data_directory_locked',
    `Cannot use the database "${address.database}" at ${placeOf(address)}: ${whose} has it${since}`,
    {
      details: { database: address.database, pid: owner?.pid ?? null },
      remedy: 'stop that engine first, or name another database in the URL of the store',
    },
  );
}
