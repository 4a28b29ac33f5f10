/**
 * The transition table of a shard: what `step` runs, what tests walk, what docs/lifecycle.md prints.
 * Owns which event does what in which phase; items live as in a run, by core/run/items/items.ts.
 */
import * as items from '../run/items/items.ts';
import type { RunContext } from '../run/run-context.ts';
import { cellsOf, type TransitionTable } from '../machine/transition-table.ts';
import {
  closed,
  conversationNoticed,
  grown,
  hasClosedForGood,
  onDirectives,
  onDirectivesAgain,
} from './items.ts';
import type { ShardEvent } from './message.ts';

export const SHARD_PHASES = ['running', 'finished'] as const;

export type ShardPhase = (typeof SHARD_PHASES)[number];

/** One that has closed for good takes no event any more. */
const cellUnlessForGood = cellsOf<ShardPhase, RunContext, ShardEvent>((run, { state }) => {
  if (!hasClosedForGood(state)) run();
});

/** Which event a shard takes in which phase, and what follows. */
export const SHARD_TABLE: TransitionTable<ShardPhase, RunContext, ShardEvent> = {
  running: {
    shardStarted: {
      to: ['running'],
      says: 'takes up the items that it has not; the run is told how many it has',
      run: grown,
    },
    itemsDirected: {
      to: ['running'],
      says: 'newest wins: begins, stops or settles items',
      run: onDirectives,
    },
    conversationStarted: {
      to: ['running'],
      says: 'the attempt has its conversation',
      run: items.conversationStarted,
    },
    startRefused: { to: ['running'], says: 'the attempt failed; the run is told', run: items.startRefused },
    conversationNoticed: {
      to: ['running'],
      says: 'newest wins: verifies, collects or continues the item; the run hears of sandboxes and rate limits',
      run: conversationNoticed,
    },
    itemVerified: {
      to: ['running'],
      says: 'collects; a failed check is the outcome check_failed (D28)',
      run: items.verified,
    },
    verifyFailed: {
      to: ['running'],
      says: 'no verdict: collects what there is, as a failure',
      run: items.verifyUnsuccessful,
    },
    itemCollected: {
      to: ['running'],
      says: 'the attempt has ended; the run is told what it cost',
      run: items.collected,
    },
    collectFailed: {
      to: ['running'],
      says: 'the run is told that its sandbox is kept; a success without results is none',
      run: items.collectUnsuccessful,
    },
    shardClosed: {
      to: ['finished'],
      says: 'its run has finished; what is told of an earlier end finds items in flight, and changes nothing',
      run: closed,
    },
    deadline: { to: ['running'], says: 'deadlines and limits of items', run: items.itemsExpired },
  },
  finished: {
    shardStarted: cellUnlessForGood(
      ['finished'],
      'takes up the items that it has not; the run is told how many it has',
      grown,
    ),
    itemsDirected: cellUnlessForGood(
      ['finished', 'running'],
      'newest wins: settles items; begins them, and is at work again',
      onDirectivesAgain,
    ),
    conversationNoticed: cellUnlessForGood(['finished'], 'newest wins', conversationNoticed),
    shardClosed: cellUnlessForGood(['finished'], 'its run has finished for good', closed),
  },
};
