/**
 * A process with an engine, to be killed: delivers what is not acknowledged yet, and ends when all conversations have.
 * Owns the log of what its activities did; says on its output what is durable. Must not tidy up behind itself.
 */
import { appendFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Activities, Activity } from '../../activities/activity.ts';
import { conversationId, type ConversationId } from '../../core/ids.ts';
import { Engine } from '../../engine/engine.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { EngineStore } from '../../ports/engine-store.ts';
import type { Delivery, Notifier } from '../../ports/notifier.ts';
import { RandomStream } from '../../simulator/random.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { CONVERSATION_SPEC } from '../core/conversation-life.ts';
import { fakeActivities } from './fake-activities.ts';

export interface KillRequest {
  readonly folder: string;
  readonly conversations: number;
  /** Messages to each of them after its first. */
  readonly messages: number;
  /** Deliveries that were acknowledged before: they are not made again. */
  readonly accepted: readonly string[];
}

/** Longest an activity takes: the process dies in the middle of some. */
const ACTIVITY_MS = 6;
/** A command takes as long in every life. */
const DELAYS = new RandomStream(0);

export const killedConversation = (index: number): ConversationId =>
  conversationId(`e${index.toString(16).padStart(31, '0')}`);
export const databaseOf = (folder: string): string => path.join(folder, 'parley.db');
export const logOf = (folder: string): string => path.join(folder, 'activity.log');

export async function runKilledEngine(request: KillRequest): Promise<void> {
  const store = await openStore({ kind: 'sqlite', path: databaseOf(request.folder) });
  const log = (lines: readonly string[]): void => {
    if (lines.length > 0) appendFileSync(logOf(request.folder), `${lines.join('\n')}\n`);
  };
  const engine = new Engine({
    store: loggingStore(store.engine, log),
    activities: slowed(fakeActivities(systemClock).activities, log),
    clock: systemClock,
  });
  await engine.start();
  writeSync(1, 'up\n');
  const all = Array.from({ length: request.conversations }, (_, index) => index);
  await Promise.all(all.map((index) => deliverAll(engine, request, index)));
  await finished(store, request.conversations);
  await engine.settled();
  writeSync(1, 'done\n');
  process.exit(0);
}

/** In order for one conversation; the parent learns of each as soon as it is accepted. */
async function deliverAll(notifier: Notifier, request: KillRequest, index: number): Promise<void> {
  for (const [name, delivery] of deliveriesOf(index, request.messages)) {
    if (request.accepted.includes(name)) continue;
    await notifier.deliver(delivery);
    writeSync(1, `accepted ${name}\n`);
  }
}

function deliveriesOf(index: number, messages: number): readonly (readonly [string, Delivery])[] {
  const id = killedConversation(index);
  const to = { machine: 'conversation', id } as const;
  const initialMessage = { messageId: `first-${index}`, text: 't', run: true };
  const spec = { ...CONVERSATION_SPEC, conversationId: id, initialMessage };
  return [
    [`first-${index}`, { to, event: { type: 'started', watcher: null, spec } }],
    ...Array.from({ length: messages }, (_, number) => {
      const messageId = `message-${index}-${number}`;
      return [
        messageId,
        { to, event: { type: 'messageReceived', messageId, text: 't', run: true } },
      ] as const;
    }),
  ];
}

function loggingStore(store: EngineStore, log: (lines: readonly string[]) => void): EngineStore {
  return {
    ...store,
    commit: async (batch) => {
      await store.commit(batch);
      log(batch.outboxRemoved.map((id) => `answered ${id}`));
    },
  };
}

/** Every attempt is logged before it does anything, and what a delivery did after it. */
function slowed(activities: Activities, log: (lines: readonly string[]) => void): Activities {
  const slow = (activity: Activity): Activity => ({
    ...activity,
    run: async (command, context) => {
      log([`ran ${command.id}`]);
      await new Promise((resolve) => setTimeout(resolve, DELAYS.split(command.id).next() * ACTIVITY_MS));
      if (command.type === 'deliverItem') log([`delivered ${command.item.itemId}`]);
      return activity.run(command, context);
    },
  });
  const entries = Object.entries(activities) as unknown as readonly (readonly [string, Activity])[];
  return Object.fromEntries(
    entries.map(([type, activity]) => [type, slow(activity)]),
  ) as unknown as Activities;
}

async function finished(store: Store, conversations: number): Promise<void> {
  for (;;) {
    const rows = await store.records.conversations();
    const ended = rows.filter((row) => row.executionStatus === 'FINISHED' && row.queuedMessages === 0);
    if (ended.length === conversations) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
