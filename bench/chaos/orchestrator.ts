/**
 * The process that chaos kills: keeps sandboxes up, accepts messages and delivers them, and goes on where it was.
 * Owns one step of one sandbox; the next step tries again what failed. It reports to standard output,
 * one line each. Must not remember anything that is not in the journal.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { OwnTarget } from '../../activities/agent-target.ts';
import { createAgentClient, type AgentClient } from '../../clients/agent/agent-client.ts';
import { conversationId, sandboxId } from '../../core/ids.ts';
import type { RandomStream } from '../../simulator/random.ts';
import type { AgentTarget } from '../../ports/agent-server.ts';
import type { SandboxAddress, SandboxRuntime } from '../../ports/sandbox-runtime.ts';
import { openRuntime, readJournal, writeEntry, type Entry, type Ground } from './ground.ts';

const START_MS = 60_000;
/** A call to a frozen agent hangs; the next step calls it again. */
const CALL_MS = 10_000;
/** Pause after a failed step, so that a lasting failure fills no log and takes no processor. */
const AGAIN_MS = 50;
/** Sandboxes that one process works on at once; boots are heavy. */
const HANDS = 4;
/** Of a hundred steps: how many end with a freeze, a stop, or the end of the sandbox. */
const FREEZES = 8;
const STOPS = 8;
const LEAVES = 2;

export interface Shift {
  readonly ground: Ground;
  readonly sandboxes: number;
  readonly random: RandomStream;
  /** True: deliver what was accepted, judge it, and leave nothing. */
  readonly isLast: boolean;
}

interface Hands {
  readonly shift: Shift;
  readonly runtime: SandboxRuntime;
  readonly agent: AgentClient;
}

/** Runs until it is killed; only the last shift returns. */
export async function orchestrate(shift: Shift): Promise<void> {
  const hands: Hands = { shift, runtime: openRuntime(shift.ground), agent: createAgentClient() };
  const entries = await readJournal(shift.ground);
  while (!shift.isLast && entries.length < shift.sandboxes) entries.push(await newEntry(shift.ground));
  const waiting = [...entries];
  const work = async (): Promise<void> => {
    for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
      const next = await step(hands, entry).catch(async (error: unknown) => {
        say('failed', error instanceof Error ? error.message : String(error));
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        return entry;
      });
      if (next !== null) waiting.push(next);
    }
  };
  await Promise.all(Array.from({ length: HANDS }, work));
  const leftovers = await hands.runtime.removeLeftovers?.();
  for (const line of leftovers ?? []) say('leftover', line);
  await hands.agent.close();
}

/** The entry to go on with; null when its sandbox is removed and none replaces it. */
async function step(hands: Hands, entry: Entry): Promise<Entry | null> {
  const { shift } = hands;
  if (entry.phase === 'leaving') return await leave(hands, entry);
  const address = await bringUp(hands, entry);
  if (address === null) return entry;
  const target = { address, sessionKey: entry.sessionKey };
  if (!shift.isLast) {
    const id = randomUUID();
    entry.accepted.push(id);
    await writeEntry(shift.ground, entry);
    say('accepted', id);
  }
  await within(CALL_MS, deliver(hands, entry, target));
  const dice = shift.random.next() * 100;
  const old = { sandboxId: sandboxId(entry.sandboxId), generation: entry.generation };
  if (shift.isLast || dice < LEAVES) {
    await within(CALL_MS, judge(hands, entry, target));
    entry.phase = 'leaving';
    await writeEntry(shift.ground, entry);
    return await leave(hands, entry);
  }
  if (dice < LEAVES + FREEZES) await hands.runtime.freezer?.freeze(old);
  else if (dice < LEAVES + FREEZES + STOPS) {
    await anew(shift.ground, entry);
    await hands.runtime.stop(old);
  }
  return entry;
}

/** Null: its state is unknown, or it did not come up; the next step tries again. */
async function bringUp({ runtime, shift }: Hands, entry: Entry): Promise<SandboxAddress | null> {
  const id = sandboxId(entry.sandboxId);
  const presence = await runtime.inspect(id);
  if (presence.kind === 'unknown') return null;
  const isUp = presence.kind === 'up' && presence.generation === entry.generation;
  if (isUp && entry.phase === 'up' && presence.isFrozen !== true) return presence.address;
  if (entry.phase === 'up' && !isUp) {
    if (presence.kind === 'crashed') say('crash', presence.cause?.kind ?? 'unknown');
    await anew(shift.ground, entry);
  }
  // The file that filled the disk is not the agent's work, and would end the next incarnation, too.
  await rm(join(shift.ground.dir, 'data', 'sandboxes', id, 'workspace', 'filler'), { force: true });
  const { generation, sessionKey } = entry;
  try {
    const address = await runtime.start({
      sandboxId: id,
      generation,
      sessionKey,
      deadline: Date.now() + START_MS,
    });
    entry.phase = 'up';
    await writeEntry(shift.ground, entry);
    say('started', `${id} ${generation}`);
    return address;
  } catch (error) {
    say('not_started', error instanceof Error ? error.message : String(error));
    const isOver = error instanceof Error && 'code' in error && error.code !== 'runtime_unreachable';
    if (isOver) await anew(shift.ground, entry);
    return null;
  }
}

async function deliver({ agent, shift }: Hands, entry: Entry, target: OwnTarget): Promise<void> {
  const id = conversationId(entry.conversationId);
  await agent.openConversation(target, {
    conversationId: id,
    workingDir: target.address.workspaceDir,
    llm: {
      model: 'none',
      baseUrl: 'http://127.0.0.1:4100/v1',
      apiKey: 'none',
      extraHeaders: {},
      sessionHeader: 'x-session',
    },
    secrets: {},
    tags: {},
    iterationsMax: 1,
    confirmation: 'never',
    userId: 'chaos',
  });
  while (entry.delivered < entry.accepted.length) {
    const messageId = entry.accepted[entry.delivered] ?? '';
    await agent.sendMessage(target, id, { messageId, text: messageId, run: false });
    entry.delivered += 1;
  }
  await writeEntry(shift.ground, entry);
}

/** Every accepted message is in the agent's log exactly once, and in the order of acceptance. */
async function judge({ agent }: Hands, entry: Entry, target: AgentTarget): Promise<void> {
  const found: string[] = [];
  let pageId: string | null = null;
  do {
    const page = await agent.events(target, conversationId(entry.conversationId), pageId);
    for (const event of page.items) if (event.kind === 'MessageEvent') found.push(plain(event.id));
    pageId = page.nextPageId;
  } while (pageId !== null);
  const wanted = entry.accepted.map(plain);
  const lost = wanted.filter((id) => !found.includes(id)).length;
  const twice = found.length - new Set(found).size;
  const inOrder = found.join() === wanted.join();
  say('judged', JSON.stringify({ messages: wanted.length, lost, twice, inOrder }));
}

/** Destroyed first, forgotten then: after a kill in between, the next process destroys again. */
async function leave({ runtime, shift }: Hands, entry: Entry): Promise<Entry | null> {
  await runtime.destroy(sandboxId(entry.sandboxId));
  say('left', entry.sandboxId);
  await rm(join(shift.ground.dir, 'journal', `${entry.sandboxId}.json`), { force: true });
  return shift.isLast ? null : await newEntry(shift.ground);
}

async function anew(ground: Ground, entry: Entry): Promise<void> {
  entry.generation += 1;
  entry.sessionKey = randomBytes(24).toString('hex');
  entry.phase = 'starting';
  await writeEntry(ground, entry);
}

async function newEntry(ground: Ground): Promise<Entry> {
  const entry: Entry = {
    sandboxId: randomBytes(16).toString('hex'),
    generation: 1,
    sessionKey: randomBytes(24).toString('hex'),
    conversationId: randomBytes(16).toString('hex'),
    phase: 'starting',
    accepted: [],
    delivered: 0,
  };
  await writeEntry(ground, entry);
  return entry;
}

const plain = (id: string): string => id.replaceAll('-', '').toLowerCase();

function say(what: string, detail: string): void {
  process.stdout.write(`${what} ${detail.replaceAll('\n', ' ')}\n`);
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the agent did not answer')), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
