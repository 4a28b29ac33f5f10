/**
 * Every invariant with its name, in the order of docs/simulation.md.
 * Owns the list; a checker that is not here is asked by nobody.
 */
import { absorbingEnds } from './absorbing-ends.ts';
import { alongTheTable } from './along-the-table.ts';
import { archivedBeforeRemoved } from './archived-before-removed.ts';
import type { LivenessChecker, SafetyChecker } from './checker.ts';
import { deletedStaysGone } from './deleted-stays-gone.ts';
import { deletionTime } from './deletion-time.ts';
import { deletionsHappen } from './deletions-happen.ts';
import { deliveredOnce } from './delivered-once.ts';
import { fencedOrders } from './fenced-orders.ts';
import { HOSTS_AT_REST, ofHosts } from './hosts/list-of-hosts.ts';
import { idleBound } from './idle-bound.ts';
import { idleMeansIdle } from './idle-means-idle.ts';
import { idlePauses } from './idle-pauses.ts';
import { DEALINGS_AT_REST, dealings } from './list-of-dealings.ts';
import { lifeOfAnObject } from './life-of-an-object.ts';
import { messagesArrive } from './messages-arrive.ts';
import { moneyIsConserved } from './money-is-conserved.ts';
import { noOrphans } from './no-orphans.ts';
import { nobodyJoinsTheLeaving } from './nobody-joins-the-leaving.ts';
import { oneHome } from './one-home.ts';
import { oneLiveObject } from './one-live-object.ts';
import { presentIncarnation } from './present-incarnation.ts';
import { runningMeansReady } from './running-means-ready.ts';
import { runtimeAgrees } from './runtime-agrees.ts';
import { sessionWindow } from './session-window.ts';
import { startTasksEnd } from './start-tasks-end.ts';
import { startsEnd } from './starts-end.ts';
import { transcriptGrows } from './transcript-grows.ts';
import { withinCapacity } from './within-capacity.ts';

const FROM_RUNTIME_TO_ARCHIVE: readonly SafetyChecker[] = [
  {
    name: 'I1',
    says: 'at most one live runtime object per sandbox',
    machine: 'sandbox',
    check: oneLiveObject,
  },
  { name: 'I2', says: 'slots held stay within the capacity', machine: 'sandbox', check: withinCapacity },
  {
    name: 'I3',
    says: 'orders of a runtime name the present generation',
    machine: 'sandbox',
    check: fencedOrders,
  },
  {
    name: 'I4',
    says: 'MISSING is for ever, ERROR is left only by a deletion, or with its host',
    machine: 'sandbox',
    check: absorbingEnds,
  },
  { name: 'I5', says: 'after a deletion nothing is alive', machine: 'sandbox', check: deletedStaysGone },
  {
    name: 'I6',
    says: 'archived, or recorded as failed, before removed',
    machine: 'sandbox',
    check: archivedBeforeRemoved,
  },
];

/** Made anew for every run: some of them remember. */
export function safetyCheckers(): readonly SafetyChecker[] {
  return [
    ...FROM_RUNTIME_TO_ARCHIVE,
    { name: 'I7', says: 'a transcript never shrinks', machine: 'conversation', check: transcriptGrows() },
    {
      name: 'I8',
      says: 'a message is delivered at most once',
      machine: 'conversation',
      check: deliveredOnce,
    },
    { name: 'I9', says: 'idle pauses only the idle', machine: 'sandbox', check: idleMeansIdle },
    { name: 'I10', says: 'a session ends with its window', machine: 'sandbox', check: sessionWindow },
    {
      name: 'I11',
      says: 'no timer removes before the Deletion Time',
      machine: 'sandbox',
      check: deletionTime(),
    },
    {
      name: 'I12',
      says: 'a conversation is in one sandbox, the one it asked for',
      machine: null,
      check: oneHome(),
    },
    {
      name: 'I13',
      says: 'agents are spoken to in the present incarnation',
      machine: 'conversation',
      check: presentIncarnation,
    },
    {
      name: 'I14',
      says: 'nobody joins a sandbox that is going',
      machine: 'sandbox',
      check: nobodyJoinsTheLeaving,
    },
    { name: 'I15', says: 'transitions stand in the tables', machine: null, check: alongTheTable },
    {
      name: 'I16',
      says: 'running means ready in this generation',
      machine: 'sandbox',
      check: runningMeansReady,
    },
    ...dealings(),
    { name: 'M1', says: 'money is conserved', machine: 'run', check: moneyIsConserved },
    { name: 'B1', says: 'no object outlives a session', machine: 'sandbox', check: lifeOfAnObject() },
    { name: 'B2', says: 'no sandbox runs on idle', machine: 'sandbox', check: idleBound },
    ...ofHosts(),
  ];
}

export const LIVENESS: readonly LivenessChecker[] = [
  { name: 'L1', says: 'starts and resumes end', check: startsEnd },
  { name: 'L2', says: 'the idle are paused', check: idlePauses },
  { name: 'L3', says: 'due deletions happen', check: deletionsHappen },
  { name: 'L4', says: 'no orphans, no leaked slots', check: noOrphans },
  { name: 'L5', says: 'messages are delivered or refused', check: messagesArrive },
  { name: 'L6', says: 'start tasks end with a reason', check: startTasksEnd },
  { name: 'L7', says: 'sandbox and runtime agree', check: runtimeAgrees },
  ...DEALINGS_AT_REST,
  ...HOSTS_AT_REST,
];
