/**
 * What the check of the engine's fence costs a commit: one small commit after the other, with it and without.
 * Owns the comparison; both databases take turns, so that other load hits them alike.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { conversationId } from '../../core/ids.ts';
import type { CommitBatch } from '../../ports/engine-store.ts';
import { openStore, type Store } from '../../store/open-store.ts';

export interface FenceCost {
  /** Per commit, processor time of the process in microseconds. */
  readonly cpuUs: { readonly fenced: number; readonly bare: number };
  /** Per commit, in microseconds. */
  readonly wallUs: { readonly fenced: number; readonly bare: number };
}

const COMMITS = 500;

export async function fenceCost(dir: string): Promise<FenceCost> {
  const folder = mkdtempSync(join(dir, 'parley-bench-'));
  const onLost = (error: Error): void => {
    throw error;
  };
  const fenced = await openStore({ kind: 'sqlite', path: join(folder, 'fenced.db'), fence: { onLost } });
  const bare = await openStore({ kind: 'sqlite', path: join(folder, 'bare.db') });
  const took = { fenced: await commits(fenced, 'f'), bare: await commits(bare, 'b') };
  await fenced.close();
  await bare.close();
  rmSync(folder, { recursive: true });
  return {
    cpuUs: { fenced: took.fenced.cpuUs, bare: took.bare.cpuUs },
    wallUs: { fenced: took.fenced.wallUs, bare: took.bare.wallUs },
  };
}

async function commits(
  store: Store,
  name: string,
): Promise<{ readonly cpuUs: number; readonly wallUs: number }> {
  const from = { at: process.hrtime.bigint(), cpu: process.cpuUsage() };
  for (let at = 0; at < COMMITS; at += 1) await store.engine.commit(batch(`${name}-${at}`));
  const { user, system } = process.cpuUsage(from.cpu);
  const wallUs = Number(process.hrtime.bigint() - from.at) / 1_000;
  return { cpuUs: (user + system) / COMMITS, wallUs: wallUs / COMMITS };
}

function batch(inboxId: string): CommitBatch {
  const to = { machine: 'conversation', id: conversationId('c'.repeat(32)) } as const;
  return {
    entities: [],
    outboxAdded: [],
    outboxRetried: [],
    outboxRemoved: [],
    inboxAdded: [{ inboxId, to, event: { type: 'deadline' }, acceptedAt: 1 }],
    inboxRemoved: [],
    projections: [],
  };
}
