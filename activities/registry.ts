/**
 * Every command and the activity that carries it out: the table of contents of this folder.
 * Owns the list only; a command without an activity does not compile.
 */
import { ACTIVITY_COMMAND_TYPES, retryOf } from '../core/machine/resource.ts';
import type { Activities, Handlers } from './activity.ts';
import { archiveWorkspace } from './archive-workspace.ts';
import { cleanUpSandbox } from './clean-up-sandbox.ts';
import { collectItem } from './collect-item.ts';
import { deliverItem } from './deliver-item.ts';
import { destroySandbox } from './destroy-sandbox.ts';
import { interruptAgent } from './interrupt-agent.ts';
import { notifyOfRun } from './notify-of-run.ts';
import { offerRoom } from './offer-room.ts';
import { openAgent } from './open-agent.ts';
import { placeConversation } from './place-conversation.ts';
import { prepareRepository } from './prepare-repository.ts';
import { reconcileRun } from './reconcile-run.ts';
import { recordEvent } from './record-event.ts';
import { removeConversation } from './remove-conversation.ts';
import { reportRun } from './report-run.ts';
import { reserveSlot } from './reserve-slot.ts';
import { runSetupScript, setUpGitHooks, setUpSkills } from './setup-steps.ts';
import { createSandbox, resumeSandbox } from './start-sandbox.ts';
import { startConversation } from './start-conversation.ts';
import { stopSandbox } from './stop-sandbox.ts';
import { verifyItem } from './verify-item.ts';
import { warmPool } from './warm-pool.ts';
import { watchAgent } from './watch-agent.ts';
import { watchIdle } from './watch-idle.ts';
import type { World } from './world.ts';

function handlersOf(world: World): Handlers {
  return {
    createSandbox: createSandbox(world),
    resumeSandbox: resumeSandbox(world),
    stopSandbox: stopSandbox(world),
    archiveWorkspace: archiveWorkspace(world),
    destroySandbox: destroySandbox(world),
    reserveSlot: reserveSlot(world),
    offerRoom: offerRoom(world),
    watchIdle: watchIdle(world),
    placeConversation: placeConversation(world),
    prepareRepository: prepareRepository(world),
    runSetupScript: runSetupScript(world),
    setUpGitHooks: setUpGitHooks(world),
    setUpSkills: setUpSkills(world),
    openAgent: openAgent(world),
    deliverItem: deliverItem(world),
    watchAgent: watchAgent(world),
    interruptAgent: interruptAgent(world),
    removeConversation: removeConversation(world),
    record: recordEvent(world),
    startConversation: startConversation(world),
    verifyItem: verifyItem(world),
    collectItem: collectItem(world),
    cleanUpSandbox: cleanUpSandbox(world),
    warmPool: warmPool(world),
    reconcileRun: reconcileRun(world),
    reportRun: reportRun(world),
    notifyOfRun: notifyOfRun(world),
  };
}

export function activitiesOf(world: World): Activities {
  const handlers = handlersOf(world);
  const entries = ACTIVITY_COMMAND_TYPES.map((type) => [type, { ...handlers[type], retry: retryOf(type) }]);
  return Object.fromEntries(entries) as unknown as Activities;
}
