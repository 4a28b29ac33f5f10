/**
 * The Temporal driver: envelopes, answers and deadlines in, `step`, one batch out, one lazy timer.
 * Owns the loop and when a run is continued as new; must not know any rule.
 */
import {
  ApplicationFailure,
  CancellationScope,
  allHandlersFinished,
  condition,
  makeContinueAsNewFunc,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';
import { addressFromKey, type EntityAddress } from '../core/ids.ts';
import { stateInPresentNames } from '../core/machine/former-names.ts';
import { isWatch } from '../core/machine/resource.ts';
import { BatchCommitter, type Committed } from './batch-committer.ts';
import { takeUp } from './carrier.ts';
import { Entity, type StepListener } from './entity.ts';
import { CommandDispatcher } from './command-dispatcher.ts';
import { Inbox } from './input.ts';
import { LazyTimer } from './lazy-timer.ts';
import {
  type Carried,
  type DriveInput,
  type Envelope,
  MALFORMED,
  moveOnSignal,
  noticeSignal,
  requestUpdate,
} from './envelope.ts';
import { Visibility } from './visibility.ts';

/** `onStep` is for tests that observe steps; the product passes none. */
export async function drive(input: DriveInput, onStep?: StepListener): Promise<void> {
  const { workflowId, runId } = workflowInfo();
  const address = addressFromKey(workflowId);
  const inbox = new Inbox();
  const asked = { toMoveOn: false };
  /** Length of the history at the latest acknowledgement: a run must not end in the task that gave one. */
  let acknowledgedAt = -1;
  setHandler(noticeSignal, (envelope) => inbox.put({ kind: 'envelope', envelope }));
  setHandler(moveOnSignal, () => void (asked.toMoveOn = true));
  setHandler(
    requestUpdate,
    (envelope) => {
      inbox.put({ kind: 'envelope', envelope });
      acknowledgedAt = workflowInfo().historyLength;
    },
    { validator: refuseMalformed },
  );
  CancellationScope.current().cancelRequested.catch(() =>
    inbox.put({ kind: 'envelope', envelope: cancellationOf(address, runId) }),
  );

  await CancellationScope.nonCancellable(async () => {
    const isTakenUp = input.isTakenUp === true && input.carried === null;
    const carried = inPresentNames(isTakenUp ? await takenUp(address) : input.carried);
    const entity = new Entity(address, carried, { onStep, endsAtRest: input.endsAtRest === true });
    const beginning = { number: carried?.batch ?? 0, isTakenUp, clock: carried?.clock ?? null };
    const committer = new BatchCommitter(entity, inbox, beginning);
    const dispatcher = new CommandDispatcher(input.queue, (commandId, event) =>
      inbox.put({ kind: 'answer', commandId, event }),
    );
    const timer = new LazyTimer(() => inbox.put({ kind: 'deadline' }));
    const visibility = new Visibility(address, input.shown);
    for (;;) {
      for (const one of inbox.take(Date.now())) entity.apply(one);
      const wantsToLeave = (): boolean => wantsToMoveOn(input, asked) && onlyWatches(entity);
      if (committer.isDirty || (wantsToLeave() && !committer.isClean)) {
        const said = await committer.commit();
        visibility.show(said.orders.rows);
        dispatchAll(said, { entity, inbox, dispatcher });
      }
      if (!inbox.isEmpty) continue;
      timer.arm(entity.deadline);
      if (!wantsToLeave()) dispatcher.beginWatches();
      const mayEnd = (): boolean => allHandlersFinished() && (entity.isAtRest || wantsToLeave());
      await condition(() => !inbox.isEmpty || mayEnd());
      if (inbox.isEmpty && acknowledgedAt === workflowInfo().historyLength) await sleep(1);
      if (!inbox.isEmpty || committer.isDirty) continue;
      if (entity.isAtRest) return;
      if (!committer.isClean) continue;
      const { number: batch, clock } = committer;
      await moveOn(input, entity, {
        shown: visibility.shown,
        batch,
        ...(clock === null ? {} : { clock }),
      });
    }
  });
}

/** An entity that was put away, as the store has it: in the history before any batch that rests on it. */
async function takenUp(address: EntityAddress): Promise<Carried | null> {
  const kept = await takeUp(address);
  await sleep(1);
  return kept === null ? null : { version: 1, state: kept.state, out: [], seen: [], batch: kept.batch };
}

/** What an older build left, in the input of a run or in the answer of an activity that is replayed. */
function inPresentNames(carried: Carried | null): Carried | null {
  return carried === null ? null : { ...carried, state: stateInPresentNames(carried.state) };
}

interface DispatchTargets {
  readonly entity: Entity;
  readonly inbox: Inbox;
  readonly dispatcher: CommandDispatcher;
}

/** The announced batch is settled: only now may begin what cannot be taken back. */
function dispatchAll({ orders, answers }: Committed, { entity, inbox, dispatcher }: DispatchTargets): void {
  for (const commandId of orders.cancelled) dispatcher.cancel(commandId);
  for (const command of orders.commands) {
    const event = answers.events[command.id];
    if (event !== undefined) inbox.put({ kind: 'answer', commandId: command.id, event });
    else if (entity.out.has(command.id))
      dispatcher.dispatch(command, Number(answers.failed.includes(command.id)), answers.hosts?.[command.id]);
  }
}

function wantsToMoveOn(input: DriveInput, asked: { readonly toMoveOn: boolean }): boolean {
  const info = workflowInfo();
  if (asked.toMoveOn || info.continueAsNewSuggested || info.targetWorkerDeploymentVersionChanged) return true;
  return info.historyLength >= input.eventsMax;
}

/** A watch is begun again by the next run; anything else is waited for, because two at once are worse than a wait. */
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

/** `runId` makes the cancellation of one run of the workflow the same request however often it is read. */
function cancellationOf(address: EntityAddress, runId: string): Envelope {
  const requestId = `cancelled/${runId}`;
  switch (address.machine) {
    case 'run':
      return { id: requestId, event: { type: 'cancelRequested', requestId } };
    // It ends with its run, and its items are cancelled there.
    case 'shard':
      return { id: requestId, event: { type: 'deadline' } };
    case 'conversation':
    case 'sandbox':
      return { id: requestId, event: { type: 'deleteRequested', requestId } };
  }
}

/** Ids are command ids and random ones: nothing longer comes from us. */
const ID_LENGTH_MAX = 512;

/** A sync validator: it must not wait, change anything, or give anything back. */
function refuseMalformed(envelope: Envelope): void {
  const { id, event } = (envelope as Partial<Envelope> | null) ?? {};
  if (
    typeof id === 'string' &&
    id.length > 0 &&
    id.length <= ID_LENGTH_MAX &&
    typeof event?.type === 'string'
  )
    return;
  throw ApplicationFailure.nonRetryable('Cannot take the request: it is no event with an id', MALFORMED);
}

/**
 * Ends this run; the next one begins on the current build of the deployment.
 * Servers since 1.30 read it from the command. Server 1.29 does not know that field, and lets the next run of a pinned
 * one inherit its build; there, the task that ends the run declares that it is not pinned, and nothing is inherited.
 * Neither is a part of the history, so a replay does not depend on it.
 */
function goOnWithNewestBuild(input: DriveInput): Promise<never> {
  // A worker without versions must not claim a behaviour: the server would refuse its answer.
  if ((workflowInfo().currentDeploymentVersion?.deploymentName ?? '') !== '') {
    getActivator().versioningBehavior = 'AUTO_UPGRADE';
  }
  const next = makeContinueAsNewFunc<(input: DriveInput) => Promise<void>>({
    initialVersioningBehavior: 'AUTO_UPGRADE',
  });
  return next(input);
}
