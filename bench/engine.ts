/**
 * How many conversations the embedded engine starts and finishes per second, and at what cost.
 * Owns the load and the comparison with the bare limit of the same disk; figures are printed, never asserted.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { activitiesOf } from '../activities/registry.ts';
import type { ConversationState } from '../core/conversation/state.ts';
import { conversationId, userId } from '../core/ids.ts';
import { Engine } from '../engine/engine.ts';
import { systemClock } from '../engine/system-clock.ts';
import type { Notifier } from '../ports/notifier.ts';
import { openStore } from '../store/open-store.ts';
import { instantWorld } from './instant-world.ts';
import { bareCommitsPerSecond } from './bare-commits.ts';

interface Load {
  readonly conversations: number;
  readonly atOnce: number;
  /** Events per commit at most; 1 is the comparison without group commit. */
  readonly batchEventsMax: number;
}

interface Figures {
  readonly seconds: number;
  readonly cpuMs: number;
  readonly commits: number;
  readonly events: number;
}

async function measure(load: Load): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  let commits = 0;
  const onCommit = (): void => void (commits += 1);
  const groupWrites = load.batchEventsMax > 1;
  const store = await openStore({ kind: 'sqlite', path: join(folder, 'bench.db'), groupWrites, onCommit });
  let finished = 0;
  let events = 0;
  let begun = 0;
  let allDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => (allDone = resolve));
  const late: { notifier: Notifier | null } = { notifier: null };
  const notifier: Notifier = { deliver: (delivery) => late.notifier?.deliver(delivery) ?? Promise.reject(new Error('not yet')) };
  const world = instantWorld({ store, clock: systemClock, notifier });
  const begin = (): void => {
    if (begun >= load.conversations) return;
    begun += 1;
    void engine.deliver(started(begun));
  };
  const engine = new Engine({
    store: store.engine,
    activities: activitiesOf(world),
    clock: systemClock,
    batchEventsMax: load.batchEventsMax,
    onStep: ({ address, before, after }) => {
      if (address.machine !== 'conversation') return;
      const was = (before as ConversationState | null)?.executionStatus;
      if (was === 'FINISHED' || (after as ConversationState).executionStatus !== 'FINISHED') return;
      finished += 1;
      if (finished === load.conversations) allDone();
      else setImmediate(begin);
    },
    onCommit: (count) => {
      events += count;
    },
    onActivityError: (command, error) => {
      throw new Error(`${command.type}: ${error.message}`, { cause: error });
    },
  });
  late.notifier = engine;
  await engine.start();
  const cpu = process.cpuUsage();
  const from = process.hrtime.bigint();
  for (let i = 0; i < load.atOnce; i += 1) begin();
  await done;
  const seconds = Number(process.hrtime.bigint() - from) / 1e9;
  const { user, system } = process.cpuUsage(cpu);
  await engine.stop();
  await store.close();
  rmSync(folder, { recursive: true });
  return { seconds, cpuMs: (user + system) / 1_000, commits, events };
}

function started(index: number): Parameters<Notifier['deliver']>[0] {
  const id = conversationId(index.toString(16).padStart(32, '0'));
  return {
    to: { machine: 'conversation', id },
    event: {
      type: 'started',
      watcher: null,
      birth: {
        conversationId: id,
        userId: userId('bench'),
        runId: null,
        key: null,
        itemIndex: null,
        title: null,
        repository: 'bench/repository',
        codeHost: null,
        branch: null,
        model: 'bench',
        tags: { bench: 'engine' },
        strategy: 'NO_GROUPING',
        sandboxId: null,
        initialMessage: { messageId: `message-${index}`, text: 'Do it', run: true },
        iterationsMax: 500,
        confirmation: 'never',
        nanoUsdMax: null,
        noProgressMs: null,
      },
    },
  };
}

function print(name: string, load: Load, figures: Figures): number {
  const rate = load.conversations / figures.seconds;
  const per = (count: number): string => (count / load.conversations).toFixed(3);
  console.log(
    [
      name.padEnd(28),
      `${rate.toFixed(0)} conversations/s`,
      `${per(figures.cpuMs)} ms CPU/conversation`,
      `${per(figures.commits)} commits/conversation`,
      `${per(figures.events)} events/conversation`,
    ].join('  '),
  );
  return rate;
}

const conversations = Number(process.argv[2] ?? 1_000);
const bare = bareCommitsPerSecond();
console.log(`bare one-row commits, full sync: ${bare.toFixed(0)}/s`);
await measure({ conversations: 200, atOnce: 100, batchEventsMax: 256 });
const grouped: Load = { conversations, atOnce: 100, batchEventsMax: 256 };
const single: Load = { conversations, atOnce: 100, batchEventsMax: 1 };
const groupRate = print('group commit, 100 at once', grouped, await measure(grouped));
const singleRate = print('one commit per event', single, await measure(single));
const alone: Load = { conversations: Math.ceil(conversations / 5), atOnce: 1, batchEventsMax: 256 };
print('group commit, 1 at once', alone, await measure(alone));
console.log(`group commit / one per event: ${(groupRate / singleRate).toFixed(1)} times`);
console.log(`conversations per bare full-sync commit: ${(groupRate / bare).toFixed(3)}`);
