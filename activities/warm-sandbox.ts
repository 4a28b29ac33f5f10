/**
 * A sandbox of the warm pool for a start that would get a new sandbox.
 * Owns the check of its readiness before it is claimed, and what follows a lost claim; the claim is the store's (D16).
 * After the claim its start checks once more: one that died in between is booted again under the same id.
 */
import type { SandboxId } from '../core/ids.ts';
import { asParleyError, ParleyError } from '../core/parley-error.ts';
import { bootedAfter } from '../core/placement/warm-pool.ts';
import { agentTarget } from './agent-target.ts';
import type { World } from './world.ts';

/** One that takes longer to answer is given up: its owner would wait for it again and again. */
const POLL_MS = 2_000;
/** Every sandbox of a pool is made with its first generation. */
export const WARM_GENERATION = 1;

type Lost = { readonly kind: 'warm_lost' };

/**
 * Calls `ask` with the oldest healthy one, with the next when another start was faster, and without one at last.
 * With `world` null: without one at once. The loop ends: one that was lost or given up is never found again.
 */
export async function withWarm<Outcome extends { readonly kind: string }>(
  world: World | null,
  ask: (warm: { readonly warm?: SandboxId }) => Promise<Outcome>,
): Promise<Exclude<Outcome, Lost>> {
  for (;;) {
    const found = world === null ? null : await wellWarmSandbox(world);
    const outcome = await ask(found === null ? {} : { warm: found });
    if (outcome.kind !== 'warm_lost') return outcome as Exclude<Outcome, Lost>;
  }
}

async function wellWarmSandbox(world: World): Promise<SandboxId | null> {
  const { deployment, warmPool, clock } = world;
  const target = deployment.warmPool;
  if (target === undefined || target.size === 0) return null;
  const use = { spec: target.spec, bootedAfter: bootedAfter(target, clock.now()) };
  for (const { sandboxId } of await warmPool.usable(use)) {
    const complaint = await complaintOf(world, sandboxId);
    if (complaint === null) return sandboxId;
    // A runtime that cannot be reached says nothing about the sandbox (D13).
    if (complaint.code !== 'runtime_unreachable') await giveUpWarm(world, sandboxId, complaint.message);
  }
  return null;
}

/** Null when it answers a request of the kind its owner sends; else why it does not. Never throws. */
async function complaintOf(world: World, sandboxId: SandboxId): Promise<ParleyError | null> {
  try {
    await within(world, agentAnswers(world, sandboxId));
    return null;
  } catch (error) {
    return asParleyError(error);
  }
}

async function agentAnswers(world: World, sandboxId: SandboxId): Promise<void> {
  const target = await agentTarget(world, { sandboxId, generation: WARM_GENERATION });
  await world.agent.idleSeconds(target);
}

function within({ clock }: World, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = `Cannot use the warm sandbox: it did not answer within ${POLL_MS} ms`;
    const timer = clock.setTimer(clock.now() + POLL_MS, () =>
      reject(new ParleyError('agent_unreachable', late)),
    );
    void work.then(resolve, reject).finally(() => timer.cancel());
  });
}

/** No start can claim it any more; the keeper of the pool removes what is left, and the reason is recorded. */
export async function giveUpWarm(
  world: Pick<World, 'warmPool' | 'lifecycle' | 'clock'>,
  sandboxId: SandboxId,
  detail: string,
): Promise<boolean> {
  if (!(await world.warmPool.giveUp(sandboxId))) return false;
  const about = { machine: 'sandbox', id: sandboxId } as const;
  const event = { about, conversationId: null, code: 'warm_given_up', detail };
  await world.lifecycle.record(event, world.clock.now());
  return true;
}
