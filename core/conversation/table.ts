/**
 * The transition table of a conversation: what `step` runs, what tests walk, what docs/lifecycle.md prints.
 * Owns which event does what in which phase; a missing cell means the event changes nothing there.
 */
import { cellsOf, type TransitionTable } from '../machine/transition-table.ts';
import type { ConversationEvent } from './message.ts';
import { roomOffered, waitForSlot } from './placement.ts';
import * as removal from './removal.ts';
import * as start from './start.ts';
import type { ConversationPhase } from './state.ts';
import type { ConversationContext } from './conversation-context.ts';
import * as work from './work.ts';

const cell = cellsOf<ConversationPhase, ConversationContext, ConversationEvent>();

const removable = (phase: ConversationPhase) => ({
  deleteRequested: cell<'deleteRequested'>(
    ['deleting'],
    'removes record and transcript, leaves a tombstone (D11)',
    removal.remove,
  ),
  metadataChanged: cell<'metadataChanged'>([phase], 'replaces title and tags (D21)', removal.changeMetadata),
});

/** Cells of every phase between the request and READY. */
const starting = (phase: ConversationPhase) => ({
  ...removable(phase),
  messageReceived: cell<'messageReceived'>([phase], 'queued until READY', work.receiveEarly),
  interruptRequested: cell<'interruptRequested'>(['startFailed'], 'gives the start up', start.giveUp),
  deadline: cell<'deadline'>(
    [phase, 'startFailed'],
    'the start took too long: ERROR (D13)',
    start.startExpired,
  ),
});

/** Cells of every phase that needs the sandbox; `next` is where a usable one leads. */
const inSandbox = (phase: ConversationPhase, ...next: readonly ConversationPhase[]) => ({
  ...starting(phase),
  sandboxNoticed: cell<'sandboxNoticed'>(
    [phase, ...next, 'startFailed'],
    'goes on when usable, asks for a resume when released, ERROR when the sandbox is over',
    start.noticeWhileStarting,
  ),
  resumeAnswered: cell<'resumeAnswered'>(
    [phase, ...next, 'startFailed'],
    'goes on, or ERROR with the refusal',
    start.resumeAnsweredWhileStarting,
  ),
});

const step = (phase: ConversationPhase) => ({
  ...inSandbox(phase),
  stepFailed: cell<'stepFailed'>(
    ['startFailed'],
    'the start task ends in ERROR with the reason (D18)',
    start.stepFailed,
  ),
});

const readOnly = (phase: ConversationPhase) => ({
  ...removable(phase),
  messageReceived: cell<'messageReceived'>([phase], 'refused, with an event (D8)', work.refuseReceived),
});

export const CONVERSATION_TABLE: TransitionTable<ConversationPhase, ConversationContext, ConversationEvent> =
  {
    placing: {
      ...starting('placing'),
      placed: cell(['attaching'], 'asks the sandbox to confirm', start.placed),
      placementWaits: cell(['placing'], 'stands in the line until there is a slot (D29)', waitForSlot),
      roomOffered: cell(['placing'], 'asks for its place again', roomOffered),
      placementRefused: cell(
        ['startFailed'],
        'the start task ends in ERROR with the reason (D16, D17)',
        start.placementRefused,
      ),
    },
    attaching: {
      ...starting('attaching'),
      attachAnswered: cell(
        ['waitingForSandbox', 'preparingRepository', 'placing', 'startFailed'],
        'accepted: waits for the sandbox; refused: places again, at its bound ERROR',
        start.attachAnswered,
      ),
      sandboxNoticed: cell(['attaching'], 'kept; says nothing about acceptance', start.noticeWhileAttaching),
    },
    waitingForSandbox: inSandbox('waitingForSandbox', 'preparingRepository'),
    preparingRepository: {
      ...step('preparingRepository'),
      repositoryPrepared: cell(['runningSetupScript'], 'next step', start.stepOver),
    },
    runningSetupScript: {
      ...step('runningSetupScript'),
      setupScriptRan: cell(['settingUpGitHooks'], 'next step', start.stepOver),
    },
    settingUpGitHooks: {
      ...step('settingUpGitHooks'),
      gitHooksSetUp: cell(['settingUpSkills'], 'next step', start.stepOver),
    },
    settingUpSkills: {
      ...step('settingUpSkills'),
      skillsSetUp: cell(['startingConversation'], 'next step', start.stepOver),
    },
    startingConversation: {
      ...step('startingConversation'),
      agentOpened: cell(['active'], 'READY; hands out what was queued', start.opened),
    },
    active: {
      ...removable('active'),
      sandboxNoticed: cell(['active', 'readOnly'], 'newest wins; looks again at what is wanted', work.notice),
      resumeAnswered: cell(
        ['active', 'readOnly'],
        'delivers, or refuses what was queued (D7)',
        work.resumeAnswered,
      ),
      agentOpened: cell(['active'], 'armed in the new incarnation', work.reopened),
      stepFailed: cell(['active'], 'cannot be armed: refuses what was queued', work.reopenFailed),
      itemDelivered: cell(['active'], 'out of the queue; the next follows', work.delivered),
      deliveryFailed: cell(
        ['active'],
        'tries again; at its bound refused, with an event',
        work.deliveryFailed,
      ),
      agentReported: cell(
        ['active'],
        'newest wins; tells the sandbox what its agent is up to (D6)',
        work.reported,
      ),
      agentLimitReached: cell(
        ['active'],
        'interrupts the agent; an outcome, not an error (D28)',
        work.limitReached,
      ),
      agentInterrupted: cell(['active'], 'the agent stopped', work.interrupted),
      messageReceived: cell(
        ['active'],
        'delivered in order, exactly once; resumes a released sandbox (D7)',
        work.receive,
      ),
      confirmationAnswered: cell(['active'], 'handed to the agent', work.answerConfirmation),
      continueRequested: cell(['active'], 'goes on with work that was cut off (D15)', work.continueWork),
      interruptRequested: cell(
        ['active'],
        'refuses what was queued, interrupts the agent',
        work.interruptRequested,
      ),
      accessRequested: cell(['active'], 'resumes a released sandbox (D7)', work.access),
      deadline: cell(['active'], 'a rate limit is over: goes on (D6)', work.recheck),
    },
    startFailed: {
      ...readOnly('startFailed'),
      placed: cell(['startFailed'], 'attaches all the same: a slot is taken', start.placedTooLate),
      placementRefused: cell(['startFailed'], 'nothing was taken', start.placementRefusedTooLate),
      placementWaits: cell(['startFailed'], 'leaves the line', start.waitsTooLate),
      attachAnswered: cell(['startFailed'], 'knows its sandbox, or has none', start.attachAnsweredTooLate),
      sandboxNoticed: cell(['startFailed'], 'newest wins', start.noticeWhileAttaching),
    },
    readOnly: {
      ...readOnly('readOnly'),
      sandboxNoticed: cell(['readOnly'], 'newest wins', start.noticeWhileAttaching),
    },
    deleting: {
      placed: cell(['deleting'], 'attaches, so that the sandbox can be told', start.placedTooLate),
      placementRefused: cell(['deleting'], 'removes the record', removal.removeUnplaced),
      placementWaits: cell(['deleting'], 'leaves the line', start.waitsTooLate),
      attachAnswered: cell(['deleting'], 'removes the record', removal.removeAttached),
      deadline: cell(['deleting'], 'removes the record, wherever it was placed (D13)', removal.removeAnyway),
      conversationRemoved: cell(
        ['deleted'],
        'leaves the sandbox, which goes too if this was its last (D11)',
        removal.removed,
      ),
    },
    deleted: {},
  };
