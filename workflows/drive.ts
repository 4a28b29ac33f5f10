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
import { addressFromKey, type EntityAddress } from '../core/ids.ts';
import { isWatch } from '../core/resource.ts';
import { Announcer, type Said } from './announcer.ts';
import { cancellationOf } from './cancellation.ts';
import { takeUp } from './carrier.ts';
import { Entity, type StepListener } from './entity.ts';
import { HandOut } from './hand-out.ts';
import { Inbox } from './input.ts';
import { LazyTimer } from './lazy-timer.ts';
import { moveOnSignal, noticeSignal, requestUpdate, type Carried, type DriveInput } from './letter.ts';
import { refuseMalformed } from './malformed.ts';
import { goOnWithNewestBuild } from './next-build.ts';
import { Visibility } from './visibility.ts';

/** `onStep` is for whoever looks at steps from outside; the product has nobody there. */
export async function drive(input: DriveInput, onStep?: StepListener): Promise<void> {
  const { workflowId, runId } = workflowInfo();
  const address = addressFromKey(workflowId);
  const inbox = new Inbox();
  const wish = { toMoveOn: false };
  /** Length of the history at the latest acknowledgement: a run must not end in the task that gave one. */
  let acknowledgedAt = -1;
  setHandler(noticeSignal, (letter) => inbox.put({ kind: 'letter', letter }));
  setHandler(moveOnSignal, () => void (wish.toMoveOn = true));
  setHandler(
    requestUpdate,
    (letter) => {
      inbox.put({ kind: 'letter', letter });
      acknowledgedAt = workflowInfo().historyLength;
    },
    { validator: refuseMalformed },
  );
  CancellationScope.current().cancelRequested.catch(() =>
    inbox.put({ kind: 'letter', letter: cancellationOf(address, runId) }),
  );

  await CancellationScope.nonCancellable(async () => {
    const isTakenUp = input.isTakenUp === true && input.carried === null;
    const carried = isTakenUp ? await takenUp(address) : input.carried;
    const entity = new Entity(address, carried, { onStep, endsAtRest: input.endsAtRest === true });
    const beginning = { number: carried?.batch ?? 0, isTakenUp, clock: carried?.clock ?? null };
    const announcer = new Announcer(entity, inbox, beginning);
    const out = new HandOut(input.queue, (commandId, event) =>
      inbox.put({ kind: 'answer', commandId, event }),
    );
    const timer = new LazyTimer(() => inbox.put({ kind: 'deadline' }));
    const visibility = new Visibility(address, input.shown);
    for (;;) {
      for (const one of inbox.take(Date.now())) entity.apply(one);
      const wantsToLeave = (): boolean => wantsToMoveOn(input, wish) && onlyWatches(entity);
      if (announcer.hasToSpeak || (wantsToLeave() && !announcer.isSilent)) {
        const said = await announcer.speak();
        visibility.show(said.orders.rows);
        handOut(said, { entity, inbox, out });
      }
      if (!inbox.isEmpty) continue;
      timer.arm(entity.deadline);
      if (!wantsToLeave()) out.beginWatches();
      const mayEnd = (): boolean => allHandlersFinished() && (entity.isAtRest || wantsToLeave());
      await condition(() => !inbox.isEmpty || mayEnd());
      if (inbox.isEmpty && acknowledgedAt === workflowInfo().historyLength) await sleep(1);
      if (!inbox.isEmpty || announcer.hasToSpeak) continue;
      if (entity.isAtRest) return;
      if (!announcer.isSilent) continue;
      const { number: batch, clock } = announcer;
      await moveOn(input, entity, {
        shown: visibility.shown,
        batch,
        ...(clock === null ? {} : { clock }),
      });
    }
  });
}

/** An entity that was put away, as the store has it: in the history before anything is said that rests on it. */
async function takenUp(address: EntityAddress): Promise<Carried | null> {
  const kept = await takeUp(address);
  await sleep(1);
  return kept === null ? null : { version: 1, state: kept.state, out: [], seen: [], batch: kept.batch };
}

interface Hands {
  readonly entity: Entity;
  readonly inbox: Inbox;
  readonly out: HandOut;
}

/** What was said is settled: only now may begin what cannot be taken back. */
function handOut({ orders, answers }: Said, { entity, inbox, out }: Hands): void {
  for (const commandId of orders.cancelled) out.cancel(commandId);
  for (const command of orders.commands) {
    const event = answers.events[command.id];
    if (event !== undefined) inbox.put({ kind: 'answer', commandId: command.id, event });
    else if (entity.out.has(command.id)) out.give(command, Number(answers.failed.includes(command.id)));
  }
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

function moveOn(
  input: DriveInput,
  entity: Entity,
  { shown, ...spoken }: Pick<Carried, 'batch' | 'clock'> & { readonly shown: string },
): Promise<never> {
  const { state, seenIds: seen } = entity;
  const carried = { version: 1, state, out: [...entity.out.values()], seen, ...spoken } as const;
  return goOnWithNewestBuild({ ...input, endsAtRest: true, shown, carried });
}
