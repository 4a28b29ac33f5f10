/**
 * The transition table of a sandbox: what `step` runs, what tests walk, what docs/lifecycle.md prints.
 * Owns which event does what in which phase; a missing cell means the event changes nothing there.
 */
import { cellsOf, type TransitionTable } from '../machine/transition-table.ts';
import * as answers from './answers.ts';
import type { SandboxEvent } from './message.ts';
import * as requests from './requests.ts';
import type { SandboxPhase } from './state.ts';
import { becomeError, type SandboxContext } from './sandbox-context.ts';

const cell = cellsOf<SandboxPhase, SandboxContext, SandboxEvent>();

/** From wherever it lives or was released. */
const hostLost = cell<'hostLost'>(['missing'], 'its host was given up (D33)', answers.hostLost);

/** Cells that several phases share, by phase name so that `to` can say "stays". */
const attached = (phase: SandboxPhase) => ({
  detached: cell<'detached'>([phase], 'the conversation leaves', requests.detach),
  agentNoticed: cell<'agentNoticed'>(
    [phase],
    "remembers the agent's activity, newest wins",
    requests.noteAgent,
  ),
  hostLost,
});

const removable = {
  deleteRequested: cell<'deleteRequested'>(
    ['stopping'],
    'stops, then archives, then removes (D12)',
    requests.remove,
  ),
};

const readOnlyInError = (phase: SandboxPhase) => ({
  ...attached(phase),
  attachRequested: cell<'attachRequested'>([phase], 'refuses the attachment', requests.refuseAttach),
  resumeRequested: cell<'resumeRequested'>(
    [phase],
    'refuses: sandbox_error (D8)',
    requests.refuseResumeInError,
  ),
});

const leaving = (phase: SandboxPhase) => ({
  ...attached(phase),
  attachRequested: cell<'attachRequested'>([phase], 'refuses the attachment', requests.refuseAttach),
  resumeRequested: cell<'resumeRequested'>(
    [phase],
    'refuses: sandbox_missing (D14)',
    requests.refuseResumeWhenGone,
  ),
  deleteRequested: cell<'deleteRequested'>(
    [phase],
    'goes on as a deletion by a user',
    requests.removeAlready,
  ),
});

export const SANDBOX_TABLE: TransitionTable<SandboxPhase, SandboxContext, SandboxEvent> = {
  starting: {
    ...attached('starting'),
    ...removable,
    sandboxReady: cell(
      ['running', 'pausing'],
      'opens the session window; a pause asked for meanwhile follows',
      answers.ready,
    ),
    sandboxFailed: cell(['errorStopping'], 'definite failure, with its reason (D13)', answers.startFailed),
    runtimeGone: cell(['missing'], 'the runtime says there is no such sandbox (D13)', answers.gone),
    attachRequested: cell(['starting'], 'accepts the conversation', requests.attach),
    resumeRequested: cell(['starting'], 'answers when booted; cancels a wish to pause', requests.resumeLater),
    pauseRequested: cell(['starting'], 'accepted, done when booted (D8)', requests.pauseLater),
    deadline: cell(
      ['starting', 'errorStopping'],
      'start timeout: definite failure',
      answers.expired((context) => becomeError(context, 'start_timeout')),
    ),
  },
  running: {
    ...removable,
    hostLost,
    detached: cell(
      ['running'],
      'the conversation leaves; PAUSED or RUNNING by the agents that stay',
      requests.detachWhileRunning,
    ),
    agentNoticed: cell(
      ['running'],
      'PAUSED while an agent waits and none works, else RUNNING (D6)',
      requests.noteAgent,
    ),
    idleReached: cell(
      ['running', 'pausing'],
      'idle pause when the Idle Time has passed, else watches on (D9, D10)',
      answers.idle,
    ),
    runtimeGone: cell(['missing'], 'the runtime says there is no such sandbox (D13)', answers.gone),
    runtimeCrashed: cell(['errorStopping'], 'unrecoverable failure: read-only (D13)', answers.crashed),
    runtimeEvicted: cell(['pausing'], 'its host made room: releases; files stay', answers.evicted),
    runtimeUnknown: cell(['running'], 'only marks it stale (D13)', answers.unknown),
    runtimeAnswered: cell(['running'], 'no longer stale', answers.answeredAgain),
    attachRequested: cell(['running'], 'accepts the conversation', requests.attach),
    resumeRequested: cell(['running'], 'is up: answers at once, opens no window (D8)', requests.resumeAtOnce),
    pauseRequested: cell(
      ['running', 'pausing'],
      'releases; to make room never with a working agent (D17)',
      requests.pause,
    ),
    startFailed: cell(['running', 'pausing'], 'releases, if made for it alone', requests.releaseUnused),
    deadline: cell(
      ['running', 'pausing'],
      'force-pause at 12 hours of session, even if active (D10)',
      requests.capReached,
    ),
  },
  pausing: {
    ...attached('pausing'),
    ...removable,
    sandboxStopped: cell(
      ['released', 'reserving'],
      'released; a resume wished meanwhile follows',
      answers.stopped,
    ),
    stopFailed: cell(
      ['pausing'],
      'unknown: asked again on a timer, stale after its bound (D13)',
      answers.stopUnconfirmed,
    ),
    runtimeGone: cell(['missing'], 'the runtime says there is no such sandbox (D13)', answers.gone),
    attachRequested: cell(['pausing'], 'accepts only an explicit choice (D16)', requests.attachIfExplicit),
    resumeRequested: cell(['pausing'], 'resumes as soon as it has stopped', requests.resumeLater),
    pauseRequested: cell(['pausing'], 'drops a resume wished meanwhile', requests.pauseInstead),
    deadline: cell(['pausing'], 'asks for the stop again', answers.expired(answers.stopAgain)),
  },
  released: {
    ...attached('released'),
    deleteRequested: cell(['archiving'], 'archives, then removes (D12)', requests.remove),
    attachRequested: cell(['released'], 'accepts only an explicit choice (D16)', requests.attachIfExplicit),
    resumeRequested: cell(['reserving'], 'asks for a slot (D17)', requests.resume),
    deadline: cell(
      ['released', 'archiving'],
      'Deletion Time over: archives, then removes (D11)',
      requests.deletionReached,
    ),
  },
  reserving: {
    ...attached('reserving'),
    ...removable,
    slotGranted: cell(['resuming'], 'boots a new incarnation (D14)', answers.slotGranted),
    slotRefused: cell(
      ['released'],
      'nothing accepted: stays released and says so (D17)',
      answers.slotRefused,
    ),
    attachRequested: cell(['reserving'], 'accepts only an explicit choice (D16)', requests.attachIfExplicit),
    slotWaits: cell(['reserving'], 'stands in the line until there is a slot (D29)', answers.slotWaits),
    roomOffered: cell(['reserving'], 'asks for its slot again', answers.roomOffered),
    resumeRequested: cell(['reserving'], 'is under way already', requests.resumeLater),
    pauseRequested: cell(
      ['released'],
      'gives the resume up; one to make room is for what is up',
      requests.pauseUnslotted,
    ),
    deadline: cell(
      ['reserving', 'released'],
      'looks again from the line; no answer in time: stays released and says so',
      answers.expired(answers.slotExpired),
    ),
  },
  resuming: {
    ...attached('resuming'),
    ...removable,
    sandboxReady: cell(['running', 'pausing'], 'opens a new 12-hour window (D10)', answers.ready),
    sandboxFailed: cell(
      ['resuming', 'pausing'],
      'tries again; at its bound refuses, and stops what may be up (D7)',
      answers.resumeFailed,
    ),
    runtimeGone: cell(['missing'], 'the runtime says there is no such sandbox (D13)', answers.gone),
    attachRequested: cell(['resuming'], 'accepts only an explicit choice (D16)', requests.attachIfExplicit),
    resumeRequested: cell(['resuming'], 'is under way already', requests.resumeLater),
    pauseRequested: cell(['resuming'], 'accepted, done when booted (D8)', requests.pauseLater),
    deadline: cell(
      ['resuming', 'pausing'],
      'resume timeout: refuses, and stops what may be up; no window opened (D10)',
      answers.expired((context) => answers.giveUpResume(context, 'resume_timeout')),
    ),
  },
  stopping: {
    ...leaving('stopping'),
    sandboxStopped: cell(['archiving', 'destroying'], 'archives what there is', answers.stoppedForDeletion),
    stopFailed: cell(['stopping'], 'asked again on a timer', answers.stopUnconfirmed),
    runtimeGone: cell(['missing'], 'nothing left to remove', answers.gone),
    deadline: cell(['stopping'], 'asks for the stop again', answers.expired(answers.stopAgain)),
  },
  archiving: {
    ...leaving('archiving'),
    workspaceArchived: cell(['destroying'], 'archive is durable: removes', answers.archived),
    archiveFailed: cell(
      ['archiving', 'destroying', 'released'],
      "tries again; then a user's deletion goes on, a timer's waits (D12)",
      answers.archiveUnsuccessful,
    ),
    deadline: cell(
      ['archiving', 'destroying', 'released'],
      'counts as a failed archive',
      answers.expired(answers.archiveAgainOrRecord),
    ),
  },
  destroying: {
    ...leaving('destroying'),
    sandboxDestroyed: cell(['missing'], 'MISSING; transcripts stay (D11)', answers.destroyed),
    destroyFailed: cell(['destroying'], 'asked again on a timer', answers.destroyUnconfirmed),
    deadline: cell(['destroying'], 'asks for the removal again', answers.expired(answers.destroyAgain)),
  },
  errorStopping: {
    ...readOnlyInError('errorStopping'),
    deleteRequested: cell(
      ['errorStopping'],
      'remembered: storage goes without waiting',
      requests.removeFromError,
    ),
    sandboxStopped: cell(
      ['errorArchiving', 'error', 'errorDestroying'],
      'archives what is readable (D8)',
      answers.stoppedInError,
    ),
    stopFailed: cell(['errorStopping'], 'asked again on a timer', answers.stopUnconfirmed),
    runtimeGone: cell(
      ['errorArchiving', 'error', 'errorDestroying'],
      'nothing left to stop: archives what is readable (D8)',
      answers.stoppedInError,
    ),
    deadline: cell(['errorStopping'], 'asks for the stop again', answers.expired(answers.stopAgain)),
  },
  errorArchiving: {
    ...readOnlyInError('errorArchiving'),
    deleteRequested: cell(
      ['errorArchiving'],
      'remembered: storage goes without waiting',
      requests.removeFromError,
    ),
    workspaceArchived: cell(['error', 'errorDestroying'], 'archive is durable', answers.archived),
    archiveFailed: cell(
      ['errorArchiving', 'error', 'errorDestroying'],
      'tries again, then records archive_failed (D12)',
      answers.archiveUnsuccessful,
    ),
    deadline: cell(
      ['errorArchiving', 'error', 'errorDestroying'],
      'counts as a failed archive',
      answers.expired(answers.archiveAgainOrRecord),
    ),
  },
  error: {
    ...readOnlyInError('error'),
    deleteRequested: cell(['errorDestroying'], 'removes the storage', requests.removeFromError),
    deadline: cell(
      ['error', 'errorDestroying'],
      'Deletion Time over: removes the storage, status stays (D8)',
      requests.deletionReachedInError,
    ),
  },
  errorDestroying: {
    ...readOnlyInError('errorDestroying'),
    deleteRequested: cell(['errorDestroying'], 'ends in MISSING', requests.removeFromError),
    sandboxDestroyed: cell(
      ['errorEmpty', 'missing'],
      'storage gone; MISSING only if somebody deleted it (D8)',
      answers.destroyedInError,
    ),
    destroyFailed: cell(['errorDestroying'], 'asked again on a timer', answers.destroyUnconfirmed),
    deadline: cell(['errorDestroying'], 'asks for the removal again', answers.expired(answers.destroyAgain)),
  },
  errorEmpty: {
    ...readOnlyInError('errorEmpty'),
    deleteRequested: cell(['missing'], 'MISSING', requests.removeFromError),
  },
  missing: {
    detached: cell(['missing'], 'the conversation leaves', requests.detach),
    attachRequested: cell(['missing'], 'refuses the attachment', requests.refuseAttach),
    resumeRequested: cell(['missing'], 'refuses: sandbox_missing (D8)', requests.refuseResumeWhenGone),
  },
};
