/**
 * Every invariant with its name, in the order of docs/simulation.md.
 * Owns the list; a checker that is not here never runs.
 */
import {
  absorbingEnds,
  archivedBeforeRemoved,
  deletedStaysGone,
  fencedOrders,
  nobodyJoinsTheLeaving,
  oneLiveObject,
  runningMeansReady,
  sessionWindow,
  withinCapacity,
} from './of-runtime.ts';
import { alongTheTable } from './of-any-machine.ts';
import { atRest, safety, type LivenessChecker, type SafetyChecker } from './checker.ts';
import {
  deletionTime,
  deletionsHappen,
  idleBound,
  idleMeansIdle,
  idlePauses,
  lifeOfAnObject,
} from './of-idle-time.ts';
import {
  deliveredOnce,
  messagesArrive,
  oneHome,
  presentIncarnation,
  transcriptGrows,
} from './of-conversations.ts';
import { HOSTS_AT_REST, ofHosts } from './hosts/list-of-hosts.ts';
import { DEALINGS_AT_REST, dealings } from './list-of-dealings.ts';
import { moneyIsConserved } from './of-runs.ts';
import { noOrphans, runtimeAgrees, startTasksEnd, startsEnd } from './of-rest.ts';

/** Made anew for every run: some of them remember. */
export function safetyCheckers(): readonly SafetyChecker[] {
  return [
    ...safety([
      ['I1', 'at most one live runtime object per sandbox', 'sandbox', oneLiveObject],
      ['I2', 'slots held stay within the capacity', 'sandbox', withinCapacity],
      ['I3', 'orders of a runtime name the present generation', 'sandbox', fencedOrders],
      [
        'I4',
        'MISSING is for ever, ERROR is left only by a deletion, or with its host',
        'sandbox',
        absorbingEnds,
      ],
      ['I5', 'after a deletion nothing is alive', 'sandbox', deletedStaysGone],
      ['I6', 'archived, or recorded as failed, before removed', 'sandbox', archivedBeforeRemoved],
      ['I7', 'a transcript never shrinks', 'conversation', transcriptGrows()],
      ['I8', 'a message is delivered at most once', 'conversation', deliveredOnce],
      ['I9', 'idle pauses only the idle', 'sandbox', idleMeansIdle],
      ['I10', 'a session ends with its window', 'sandbox', sessionWindow],
      ['I11', 'no timer removes before the Deletion Time', 'sandbox', deletionTime()],
      ['I12', 'a conversation is in one sandbox, the one it asked for', null, oneHome()],
      ['I13', 'agents are spoken to in the present incarnation', 'conversation', presentIncarnation],
      ['I14', 'nobody joins a sandbox that is going', 'sandbox', nobodyJoinsTheLeaving],
      ['I15', 'transitions stand in the tables', null, alongTheTable],
      ['I16', 'running means ready in this generation', 'sandbox', runningMeansReady],
    ]),
    ...dealings(),
    ...safety([
      ['M1', 'money is conserved', 'run', moneyIsConserved],
      ['B1', 'no object outlives a session', 'sandbox', lifeOfAnObject()],
      ['B2', 'no sandbox runs on idle', 'sandbox', idleBound],
    ]),
    ...ofHosts(),
  ];
}

export const LIVENESS: readonly LivenessChecker[] = [
  ...atRest([
    ['L1', 'starts and resumes end', startsEnd],
    ['L2', 'the idle are paused', idlePauses],
    ['L3', 'due deletions happen', deletionsHappen],
    ['L4', 'no orphans, no leaked slots', noOrphans],
    ['L5', 'messages are delivered or refused', messagesArrive],
    ['L6', 'start tasks end with a reason', startTasksEnd],
    ['L7', 'sandbox and runtime agree', runtimeAgrees],
  ]),
  ...DEALINGS_AT_REST,
  ...HOSTS_AT_REST,
];
