/**
 * placeConversation: the one shared decision, made in one store transaction (D16).
 * Owns the translation of its outcome; the rules are in core/placement/place.ts.
 */
import type { CommandOf, MachineEvent } from '../core/machine/command.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { PlacementDecision } from '../core/placement/place.ts';
import { mayAskAgain } from '../core/placement/place-in-pool.ts';
import type { PlaceRequest } from '../ports/placement-store.ts';
import { refusedAs, type Handler } from './activity.ts';
import { answerWait } from './make-room.ts';
import { offerRoomTo } from './offer-room.ts';
import { withWarm } from './warm-sandbox.ts';
import type { World } from './world.ts';

export const placeConversation = (world: World): Handler<'placeConversation'> => ({
  run: (command) => place(world, command),
  failed: refusedAs('placementRefused'),
});

async function place(world: World, command: CommandOf<'placeConversation'>): Promise<MachineEvent> {
  const { id: commandId, conversationId, userId, pool, excluded, onlyLeaves = false, runId } = command;
  const { strategy, sandboxId, host } = command;
  const request: PlaceRequest = {
    ...{ conversationId, userId, strategy, sandboxId, pool, host, excluded, onlyLeaves },
    ...(runId === undefined ? {} : { runId }),
    isFinal: true,
    waits: runId !== undefined || world.deployment.onFull !== 'refuse',
    newSandboxId: world.keys.sandboxIdOf(conversationId, excluded.length),
    limits: world.deployment.capacity,
    now: world.clock.now(),
  };
  const outcome = await placed(world, request);
  const left = outcome.leftBehind === undefined ? {} : { leftBehind: outcome.leftBehind };
  // A conversation that leaves the line may have been next, and a sandbox that was never made frees its slot here.
  if (onlyLeaves || outcome.leftLine === true || outcome.leftBehind !== undefined) await offerRoomTo(world);
  if (outcome.kind === 'waits') {
    const told = await answerWait(world, { userId, commandId, slots: outcome.slots });
    return { type: 'placementWaits', commandId, ...told, ...left };
  }
  if (outcome.kind === 'refused') {
    const { code, reason } = outcome.refusal;
    if (mayAskAgain(outcome.refusal, pool)) throw new ParleyError(code, reason);
    return { type: 'placementRefused', commandId, code, reason, ...left };
  }
  const { limits } = world.deployment;
  const spec = outcome.created
    ? {
        sandboxId: outcome.sandboxId,
        userId,
        createdBy: 'placement' as const,
        limits,
        ...warmth(outcome.decision),
      }
    : null;
  const spilled = outcome.decision.pool?.spilled === true ? { spilled: true as const } : {};
  return { type: 'placed', commandId, sandboxId: outcome.sandboxId, spec, ...left, ...spilled };
}

/** An explicit choice, and a conversation that only leaves, need no new sandbox: they claim no warm one. */
function placed(world: World, request: PlaceRequest) {
  const mayBeNew = request.sandboxId === null && request.onlyLeaves !== true;
  return withWarm(mayBeNew ? world : null, (warm) => world.placement.place({ ...request, ...warm }));
}

function warmth({ bootedAt }: PlacementDecision): { readonly bootedAt?: number } {
  return bootedAt === undefined ? {} : { bootedAt };
}
