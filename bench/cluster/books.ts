/**
 * Two books of the same calls: the spend rows of the proxies, and what the stand-in of a vendor billed (D26).
 * Owns how they are compared: each row with a price is one line of the bill with that price, and what was billed without
 * such a row is known by one that was cut off.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Book } from './deployment.ts';
import type { Cluster } from './ground.ts';
import { DATABASE } from './services.ts';

/** The workers' proxies write where the records are, the others into a schema of their own. */
const TABLES: Readonly<Record<Book, string>> = { agents: 'spend', clients: 'parley_proxy.spend' };
const COLUMNS = 'state, response_id, cost_nano_usd';
/** A proxy that is dead is given up, and its spool found, within half a minute each. */
const CLOSED_MS_MAX = 120_000;
const POLL_MS = 1_000;

export interface Compared {
  readonly calls: number;
  readonly billedNanoUsd: number;
  /** Of it, what a row without a price stands for. */
  readonly cutOff: number;
  readonly findings: readonly string[];
}

export async function compareBooks(cluster: Cluster, book: Book): Promise<Compared> {
  const rows = await closedRows(cluster, book);
  const bill = await cluster.bill(book);
  const findings: string[] = [];
  const left = new Map(bill);
  let unpriced = 0;
  for (const { state, response_id: id, cost_nano_usd: cost } of rows) {
    if (state === 'open') findings.push(`a spend row of the ${book} was never closed`);
    if (cost === null || id === null) {
      unpriced += 1;
      continue;
    }
    const billed = left.get(String(id));
    if (billed === undefined)
      findings.push(`a call of the ${book} was recorded and not billed, or twice: ${id}`);
    else if (billed !== Number(cost))
      findings.push(`${id} was billed ${billed} and recorded ${cost} nano-USD`);
    left.delete(String(id));
  }
  if (left.size > unpriced)
    findings.push(
      `${left.size} calls of the ${book} were billed without a row, and ${unpriced} rows were cut off`,
    );
  const billedNanoUsd = [...bill.values()].reduce((sum, cost) => sum + cost, 0);
  return { calls: bill.size, billedNanoUsd, cutOff: left.size, findings };
}

async function closedRows(cluster: Cluster, book: Book): Promise<readonly Record<string, unknown>[]> {
  const statement = `select ${COLUMNS} from ${TABLES[book]}`;
  for (const until = Date.now() + CLOSED_MS_MAX; ; await pause(POLL_MS)) {
    const rows = await cluster.services.postgres.run(statement, DATABASE);
    if (rows.every(({ state }) => state !== 'open') || Date.now() > until) return rows;
  }
}
