/**
 * Claims on a warm pool of one, over a real store and the real Agent Server.
 * Owns what is done before and after a claim; the claim itself is what a conversation waits for: placement, with its look
 * at the sandbox, and the start, which finds it up and asks its Agent Server once more.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createAgentClient } from '../clients/agent/agent-client.ts';
import { bootWarm, keepWarm } from '../activities/keep-warm-sandboxes.ts';
import { placeConversation } from '../activities/place-conversation.ts';
import { createSandbox } from '../activities/start-sandbox.ts';
import type { World } from '../activities/world.ts';
import { conversationId, sandboxId, userId, type SandboxId } from '../core/ids.ts';
import { systemClock } from '../engine/system-clock.ts';
import type { SandboxRuntime } from '../ports/sandbox-runtime.ts';
import { openStore } from '../store/open-store.ts';
import { instantWorld } from './instant-world.ts';

const READY_MS = 30_000;
const WISH = { size: 1, maxAgeMs: 3_600_000, spec: 'bench' };

export interface WarmClaims {
  /** Boots one, and gives the claim on it. @throws Error when it could not be booted */
  next(): Promise<() => Promise<void>>;
  removeClaimed(): Promise<void>;
  close(): Promise<void>;
}

export async function openWarmClaims(runtime: SandboxRuntime, dir: string): Promise<WarmClaims> {
  const store = await openStore({ kind: 'sqlite', path: join(dir, 'warm.db') });
  const parts = { store, clock: systemClock, notifier: { deliver: () => Promise.resolve() } };
  const base = instantWorld(parts);
  const agent = createAgentClient({ dialect: 'reference' });
  const deployment = { ...base.deployment, warmPool: WISH };
  const world: World = { ...base, runtime, agent, deployment };
  const claimed: SandboxId[] = [];
  return {
    async next() {
      const memory = { booting: new Set<SandboxId>(), isBackingOff: false, polls: false };
      const { boots, problems } = await keepWarm(world, memory, () => sandboxId(hex()));
      const failures = await Promise.all(boots.map((id) => bootWarm(world, id)));
      const [problem] = [...problems, ...failures.filter((failure) => failure !== null)];
      if (problem !== undefined) throw new Error(problem);
      return async () => void claimed.push(await claim(world));
    },
    async removeClaimed() {
      for (const id of claimed.splice(0)) await runtime.destroy(id);
    },
    async close() {
      for (const { sandboxId: id } of await store.warmPool.held()) await runtime.destroy(id);
      await agent.close();
      await store.close();
    },
  };
}

/** @throws Error when it was given a new one: that is another figure */
async function claim(world: World): Promise<SandboxId> {
  const context = { signal: new AbortController().signal, attempt: 0 };
  const command = {
    type: 'placeConversation',
    id: 'c#1',
    conversationId: conversationId(hex()),
    userId: userId('bench'),
    strategy: 'NO_GROUPING',
    sandboxId: null,
    excluded: [],
  } as const;
  const placed = await placeConversation(world).run(command, context);
  const spec = placed?.type === 'placed' ? placed.spec : null;
  if (spec?.bootedAt === undefined) throw new Error('it was no claim on the warm pool');
  const { sandboxId: id, bootedAt } = spec;
  const order = { type: 'createSandbox', id: 's#1', sandboxId: id, generation: 1, bootedAt } as const;
  await createSandbox(world).run({ ...order, deadline: Date.now() + READY_MS }, context);
  return id;
}

const hex = (): string => randomBytes(16).toString('hex');
