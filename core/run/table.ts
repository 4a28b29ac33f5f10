/**
 * The transition table of a run: what `step` runs, what tests walk, what docs/lifecycle.md prints.
 * Owns which event does what in which phase; items have their own life, in core/run/items/items.ts.
 */
import { cellsOf, type TransitionTable } from '../machine/transition-table.ts';
import type { RunPhase } from '../machine/projection.ts';
import { wasSeen } from '../machine/requests.ts';
import { amendPlan } from './amend/amend.ts';
import { cleanedUp } from './cleanup.ts';
import * as closing from './closing.ts';
import * as control from './control.ts';
import * as items from './items/items.ts';
import * as reports from './reports.ts';
import type { RunEvent } from './message.ts';
import { poolWarmed } from './admission/pool.ts';
import type { RunContext } from './run-context.ts';

/** Every cell ends with what the run may do next; a request that comes again changes nothing at all. */
const cell = cellsOf<RunPhase, RunContext, RunEvent>((run, context, event) => {
  if (isRepeat(context, event)) return;
  run();
  control.pursue(context);
});

/** It changes nothing, not even what has become due meanwhile: a timer sees to that. */
function isRepeat({ state }: RunContext, event: RunEvent): boolean {
  return 'requestId' in event && wasSeen(state.seen, event.requestId);
}

const END: readonly RunPhase[] = ['cleaning', 'settling', 'reconciling', 'reporting'];

const controllable = (phase: RunPhase) => ({
  resumeRequested: cell<'resumeRequested'>(
    phase === 'running' ? ['running'] : [phase, 'running'],
    'admits again; takes up failures of the classes named; warms its pool again',
    control.resume,
  ),
  requeueRequested: cell<'requeueRequested'>(
    phase === 'running' ? ['running'] : [phase, 'running'],
    'takes up the items named, however they ended',
    control.requeue,
  ),
  shardReady: cell<'shardReady'>([phase], 'tells the shard what it missed', reports.shardReady),
  planAmended: cell<'planAmended'>(
    phase === 'running' ? ['running'] : [phase, 'running'],
    'takes up new and changed items, lets go of those that the job no longer has',
    amendPlan,
  ),
  settingsChanged: cell<'settingsChanged'>(
    [phase],
    'changes concurrency, rate or budget from now on',
    control.setSettings,
  ),
});

export const RUN_TABLE: TransitionTable<RunPhase, RunContext, RunEvent> = {
  running: {
    ...controllable('running'),
    conversationStarted: cell(['running'], 'the attempt has its conversation', items.conversationStarted),
    startRefused: cell(['running', ...END], 'the attempt failed: retried by its class', items.startRefused),
    conversationNoticed: cell(
      ['running', ...END],
      'newest wins: verifies, collects or continues the item',
      items.noticed,
    ),
    itemVerified: cell(
      ['running'],
      'collects; a failed check is the outcome check_failed (D28)',
      items.verified,
    ),
    verifyFailed: cell(
      ['running'],
      'no verdict: collects what there is, as a failure',
      items.verifyUnsuccessful,
    ),
    itemCollected: cell(
      ['running', ...END],
      'the attempt has ended: retried by its class, or done',
      items.collected,
    ),
    collectFailed: cell(
      ['running', ...END],
      'kept for a look; a success without results is none',
      items.collectUnsuccessful,
    ),
    attemptEnded: cell(
      ['running', ...END],
      'an attempt has ended in its shard: retried by its class, or done',
      reports.attemptReported,
    ),
    poolWarmed: cell(['running'], 'knows its sandboxes; its first items begin', poolWarmed),
    sandboxCleanedUp: cell(['running'], 'one that others use as well is left to them', cleanedUp),
    cancelRequested: cell(
      ['running', ...END],
      'ends what waits, stops what works, still collects',
      control.cancel,
    ),
    drainRequested: cell(['running'], 'admits nothing new', control.drain),
    holdRequested: cell(['running'], 'admits nothing new until it is resumed', control.holdRun),
    deadline: cell(
      ['running', ...END],
      'deadlines and limits of items, retries that are due',
      control.expired,
    ),
  },
  cleaning: {
    ...controllable('cleaning'),
    conversationNoticed: cell(END, 'a sandbox is gone; with the last one the run settles', items.noticed),
    poolWarmed: cell(END, 'knows its sandboxes, and lets them go', poolWarmed),
    sandboxCleanedUp: cell(END, 'one that others use as well is left to them', cleanedUp),
    deadline: cell(END, 'goes on without the sandboxes that never said they are gone (D13)', control.expired),
  },
  settling: {
    ...controllable('settling'),
    conversationNoticed: cell(['settling'], 'newest wins', items.noticed),
    deadline: cell(
      ['settling', 'reconciling'],
      'late rows had their time: reconciles (D27)',
      control.expired,
    ),
  },
  reconciling: {
    ...controllable('reconciling'),
    conversationNoticed: cell(['reconciling'], 'newest wins', items.noticed),
    runReconciled: cell(['reporting'], 'keeps the summary, reports', control.reconciled),
    reconcileFailed: cell(['reporting'], 'reports without it, and says so', control.reconcileUnsuccessful),
  },
  reporting: {
    ...controllable('reporting'),
    conversationNoticed: cell(['reporting'], 'newest wins', items.noticed),
    runReported: cell(
      ['closing', 'finished'],
      'tells whom the job wants told of its end; without such it is over',
      control.reported,
    ),
  },
  closing: {
    ...controllable('closing'),
    conversationNoticed: cell(['closing'], 'newest wins', items.noticed),
    runNotified: cell(['closing', 'finished'], 'the next of its last steps, or the end', closing.notified),
    notifyFailed: cell(
      ['closing', 'finished'],
      'recorded, changes no outcome: the next of its last steps, or the end',
      closing.notifyUnsuccessful,
    ),
    deadline: cell(
      ['closing', 'finished'],
      'the step had its time: recorded, the next of its last steps, or the end',
      control.expired,
    ),
  },
  finished: {
    ...controllable('finished'),
    conversationNoticed: cell(['finished'], 'newest wins', items.noticed),
  },
};
