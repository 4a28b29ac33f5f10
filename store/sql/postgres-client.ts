/**
 * One connection of the pool as the store uses it: prepared statements, and a commit whose outcome is always known.
 * Owns what a lost connection means: nothing was applied, or everything, and never a guess. Must not know a table.
 */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresPoolClient } from 'kysely';
import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { isLost } from './postgres-failure.ts';

/** The store has fewer distinct texts than this; a text beyond it is parsed each time, and keeps no memory of the server. */
const STATEMENTS_MAX = 500;
/** A server that ends a session rolls its transaction back within this many looks. */
const POLLS_MAX = 50;
const POLL_MS = 100;

const names = new Map<string, string>();

/** The same text has the same name on every connection; undefined for one too many. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= STATEMENTS_MAX) return undefined;
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 32);
  names.set(text, name);
  return name;
}

/** What becomes of a transaction whose connection was lost while it was committed. */
type Outcome = 'committed' | 'aborted' | 'in progress';
export type AskOutcome = (transaction: string) => Promise<Outcome | null>;

/** These end a transaction or begin one, and are no statements to prepare. */
const BEGIN = 'begin; select pg_current_xact_id()::text as id';
const DONE = { command: '', rowCount: 0, rows: [] } as unknown as QueryResult;

export class StoreClient implements PostgresPoolClient {
  private readonly client: PoolClient;
  private readonly ask: AskOutcome;
  private transaction: string | null = null;
  private lost: Error | null = null;

  /** `client` is checked out again and again, and comes back with `release` each time. */
  constructor(client: PoolClient, ask: AskOutcome) {
    this.client = client;
    this.ask = ask;
    client.on('error', (error) => (this.lost ??= error));
  }

  // The shape of the interface: its other overload is for cursors, which the store does not use.
  readonly query = ((text: string, values: readonly unknown[]): Promise<QueryResult> => {
    if (text === 'begin') return this.begin();
    // Of work that may be repeated: no caller will ask how it ended.
    if (text.startsWith('start transaction')) return this.answerTo({ text }).catch(this.refuse);
    if (text === 'commit') return this.commit();
    if (text === 'rollback') return this.rollback();
    return this.run(text, values);
  }) as unknown as PostgresPoolClient['query'];

  release(): void {
    this.client.release(this.lost ?? undefined);
  }

  private run(text: string, values: readonly unknown[]): Promise<QueryResult> {
    const name = nameOf(text);
    const query = { text, values: [...values], ...(name === undefined ? {} : { name }) };
    return this.answerTo(query).catch(this.refuse);
  }

  /** By call-back: a promise of the driver keeps what was answered long enough to be moved by two collections. */
  private answerTo(query: QueryConfig): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      this.client.query(query, (error: Error | null | undefined, result: QueryResult) =>
        error ? reject(error) : resolve(result),
      );
    });
  }

  /** With its number, in one trip: by it the server says later how the transaction ended. */
  private async begin(): Promise<QueryResult> {
    try {
      const results = (await this.client.query(BEGIN)) as unknown as readonly QueryResult<{ id: string }>[];
      this.transaction = results[1]?.rows[0]?.id ?? null;
      return DONE;
    } catch (error) {
      throw this.noted(error);
    }
  }

  private async commit(): Promise<QueryResult> {
    const { transaction } = this;
    this.transaction = null;
    try {
      const result = await this.client.query('commit');
      // The server rolls a failed transaction back and does not call that an error.
      if (result.command === 'ROLLBACK') throw new Error('the transaction had failed and was rolled back');
      return result;
    } catch (error) {
      const noted = this.noted(error);
      if (this.lost === null || transaction === null) throw noted;
      if ((await this.outcome(transaction)) === 'committed') return DONE;
      throw noted;
    }
  }

  /** The server rolls back by itself what a lost connection leaves. */
  private async rollback(): Promise<QueryResult> {
    this.transaction = null;
    if (this.lost !== null) return DONE;
    try {
      return await this.client.query('rollback');
    } catch (error) {
      const noted = this.noted(error);
      if (this.lost !== null) return DONE;
      throw noted;
    }
  }

  /** @throws Error when the server does not say; the engine's writes may be repeated then, too */
  private async outcome(transaction: string): Promise<Outcome> {
    for (let look = 0; look < POLLS_MAX; look += 1) {
      const outcome = await this.ask(transaction).catch(() => null);
      if (outcome === 'committed' || outcome === 'aborted') return outcome;
      await pause(POLL_MS);
    }
    throw new Error('the connection was lost during a commit, and the server does not say how it ended');
  }

  private readonly refuse = (error: unknown): never => {
    throw this.noted(error);
  };

  private noted(error: unknown): unknown {
    if (isLost(error)) this.lost ??= error instanceof Error ? error : new Error(String(error));
    return this.lost ?? error;
  }
}
