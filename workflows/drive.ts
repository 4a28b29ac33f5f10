/**
 * The Temporal driver: letters, answers and deadlines in, `step`, one batch out, one lazy timer.
 * Owns the loop and when a run is continued as new; must not know any rule.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { MachineEvent } from '../core/command.ts';
import { isWatch } from '../core/resource.ts';
import { cancellationOf } from './cancellation.ts';
import { addressOf, Entity, type StepRecord } from './entity.ts';
import { HandOut } from './hand-out.ts';
import { LazyTimer } from './lazy-timer.ts';
import { moveOnSignal, noticeSignal, requestUpdate, type DriveInput, type Letter } from './letter.ts';
import { refuseMalformed } from './malformed.ts';
import { goOnWithNewestBuild } from './next-build.ts';
import { Visibility } from './visibility.ts';

/** Events of a history by default before its run is continued as new; the server would ask for it at 4,096. */
export const EVENTS_MAX_DEFAULT = 2_000;

interface Answer {
  readonly commandId: string;
  readonly event: MachineEvent | null;
}

/** `onStep` is for whoever looks at steps from outside; the product has nobody there. */
export async function drive(input: DriveInput, onStep?: (record: StepRecord) => void): Promise<void> {
  const { workflowId, runId } = workflowInfo();
  const entity = new Entity(addressOf(workflowId), input.carried, onStep);
  const letters: Letter[] = [];
  const answers: Answer[] = [];
  const wish = { toMoveOn: false };
  /** Length of the history at the latest acknowledgement: a run must not end in the task that gave one. */
  let acknowledgedAt = -1;
  setHandler(noticeSignal, (letter) => void letters.push(letter));
  setHandler(moveOnSignal, () => void (wish.toMoveOn = true));
  setHandler(
    requestUpdate,
    (letter) => {
      letters.push(letter);
      acknowledgedAt = workflowInfo().historyLength;
    },
    { validator: refuseMalformed },
  );
  CancellationScope.current().cancelRequested.catch(() =>
    letters.push(cancellationOf(entity.address, runId)),
  );

  await CancellationScope.nonCancellable(async () => {
    const out = new HandOut(input.queue, {
      isOut: (commandId) => entity.out.has(commandId),
      answered: (commandId, event) => void answers.push({ commandId, event }),
    });
    const timer = new LazyTimer();
    const visibility = new Visibility(entity.address, input.shown);
    for (;;) {
      const now = Date.now();
      for (const { commandId, event } of answers.splice(0)) entity.answer(commandId, event, now);
      for (const letter of letters.splice(0)) entity.receive(letter, now);
      if (timer.struck) {
        timer.struck = false;
        entity.strike(now);
      }
      const activation = entity.take();
      visibility.show(activation.rows);
      const isDone = entity.isDone;
      out.give(activation, isDone ? { address: entity.address, state: entity.state } : null);
      timer.arm(entity.deadline);
      const hasNews = (): boolean => letters.length > 0 || answers.length > 0 || timer.struck || out.mayGoOn;
      const isAtRest = (): boolean => out.isSilent && !hasNews() && allHandlersFinished();
      const mayEnd = (): boolean => isDone || (wantsToMoveOn(input, wish) && onlyWatches(entity));
      await condition(() => hasNews() || (isAtRest() && mayEnd()));
      if (!hasNews() && acknowledgedAt === workflowInfo().historyLength) await sleep(1);
      if (hasNews()) continue;
      if (isDone) return;
      await moveOn(input, entity, visibility.shown);
    }
  });
}

function wantsToMoveOn(input: DriveInput, wish: { readonly toMoveOn: boolean }): boolean {
  const info = workflowInfo();
  if (wish.toMoveOn || info.continueAsNewSuggested || info.targetWorkerDeploymentVersionChanged) return true;
  return info.historyLength >= input.eventsMax;
}

/** A watch is begun again by the next run; anything else is let to its end, because two at once are worse than a wait. */
function onlyWatches(entity: Entity): boolean {
  for (const { type } of entity.out.values()) if (!isWatch(type)) return false;
  return true;
}

function moveOn(input: DriveInput, entity: Entity, shown: string): Promise<never> {
  const carried = {
    version: 1,
    state: entity.state,
    out: [...entity.out.values()],
    seen: entity.seenIds,
  } as const;
  return goOnWithNewestBuild({ ...input, shown, carried });
}
