/** Every cell of the conversation's table, absent ones included, against the golden file. */
import type { AgentReport, ConversationEvent } from '../../core/conversation/message.ts';
import { conversationMachine } from '../../core/conversation/machine.ts';
import { CONVERSATION_PHASES, type ConversationState } from '../../core/conversation/state.ts';
import { CONVERSATION_TABLE } from '../../core/conversation/table.ts';
import { PLACEMENT_ATTEMPTS_MAX, RESUME_REQUESTS_MAX } from '../../core/limits.ts';
import { sandboxId } from '../../core/ids.ts';
import * as at from './conversation-life.ts';
import { SANDBOX } from './sandbox-life.ts';
import { walkTable } from './table-walk.ts';

/** The last placement that is tried: one more refusal ends the start. */
function lastPlacement(): at.ConversationLife {
  const life = at.attaching();
  for (let tried = 1; tried < PLACEMENT_ATTEMPTS_MAX; tried += 1) {
    life.attachAnswered(false).placed(sandboxId(String(tried).padStart(32, '2')));
  }
  return life;
}

/** Every resume that may be asked for has been: one more notice of rest ends the start. */
function lastResume(life: at.ConversationLife): at.ConversationLife {
  for (let asked = 0; asked < RESUME_REQUESTS_MAX; asked += 1) life.notice(at.RELEASED);
  return life;
}

const limited = () => at.working().reported('PAUSED', { pausedReason: 'rate_limit' });
const queued = () => at.idle().notice(at.RELEASED).message();

const LIVES: Readonly<Record<string, () => at.ConversationLife>> = {
  placing: at.placing,
  attaching: at.attaching,
  'attaching (last try)': lastPlacement,
  'attaching (up already)': () => at.attaching().notice(at.UP),
  waitingForSandbox: at.waiting,
  'waitingForSandbox (resume asked)': () => at.waiting().notice(at.RELEASED),
  'waitingForSandbox (last resume)': () => lastResume(at.waiting()),
  preparingRepository: at.preparing,
  'preparingRepository (resume asked)': () => at.preparing().notice(at.RELEASED),
  runningSetupScript: at.settingUp,
  'runningSetupScript (resume asked)': () => at.settingUp().notice(at.RELEASED),
  settingUpGitHooks: at.hooking,
  'settingUpGitHooks (resume asked)': () => at.hooking().notice(at.RELEASED),
  settingUpSkills: at.skilling,
  'settingUpSkills (resume asked)': () => at.skilling().notice(at.RELEASED),
  startingConversation: at.opening,
  'startingConversation (resume asked)': () => at.opening().notice(at.RELEASED),
  active: at.ready,
  'active (works)': at.working,
  'active (rests)': at.idle,
  'active (rate limit)': limited,
  'active (message queued, resume asked)': queued,
  'active (to be armed)': () => queued().comeBack(),
  startFailed: at.startFailed,
  'startFailed (placement out)': () => at.placing().ask('interruptRequested'),
  'startFailed (attachment out)': () => at.attaching().ask('interruptRequested'),
  readOnly: at.readOnly,
  deleting: at.deleting,
  'deleting (placement out)': () => at.placing().ask('deleteRequested'),
  'deleting (attachment out)': () => at.attaching().ask('deleteRequested'),
  deleted: at.deleted,
};

const awaited = (state: ConversationState) => ({ commandId: state.awaiting ?? 'none' });
const item = (state: ConversationState) => state.queue[0]?.itemId ?? 'none';
const report = (state: ConversationState, status: AgentReport['status']): AgentReport => ({
  status,
  pausedReason: null,
  at: (state.executionStatusAt ?? 0) + 1,
  generation: state.sandbox?.generation ?? 0,
  limitReached: null,
  retryAt: null,
  detail: null,
});
const next = (state: ConversationState, change: Parameters<typeof at.snapshot>[0]) =>
  at.snapshot({ sandboxId: state.sandboxId ?? SANDBOX, ...change }, state.sandbox);

const EVENTS: {
  [Type in ConversationEvent['type']]: (
    state: ConversationState,
  ) => Extract<ConversationEvent, { type: Type }>;
} = {
  started: () => ({ type: 'started', spec: at.CONVERSATION_SPEC, watcher: null }),
  placed: (state) => ({ type: 'placed', ...awaited(state), sandboxId: SANDBOX, spec: null }),
  placementRefused: (state) => ({
    type: 'placementRefused',
    ...awaited(state),
    code: 'concurrency_limit_reached',
    reason: 'r',
  }),
  placementWaits: (state) => ({ type: 'placementWaits', ...awaited(state), detail: 'capacity' }),
  roomOffered: () => ({ type: 'roomOffered' }),
  repositoryPrepared: (state) => ({ type: 'repositoryPrepared', ...awaited(state) }),
  setupScriptRan: (state) => ({ type: 'setupScriptRan', ...awaited(state) }),
  gitHooksSetUp: (state) => ({ type: 'gitHooksSetUp', ...awaited(state) }),
  skillsSetUp: (state) => ({ type: 'skillsSetUp', ...awaited(state) }),
  agentOpened: (state) => ({ type: 'agentOpened', ...awaited(state), report: report(state, 'IDLE') }),
  stepFailed: (state) => ({ type: 'stepFailed', ...awaited(state), code: 'agent_refused', reason: 'r' }),
  itemDelivered: (state) => ({
    type: 'itemDelivered',
    ...awaited(state),
    itemId: item(state),
    report: report(state, 'RUNNING'),
  }),
  deliveryFailed: (state) => ({
    type: 'deliveryFailed',
    ...awaited(state),
    itemId: item(state),
    reason: 'r',
  }),
  agentReported: (state) => ({
    type: 'agentReported',
    commandId: state.watch ?? 'none',
    report: report(state, 'FINISHED'),
  }),
  agentLimitReached: (state) => ({
    type: 'agentLimitReached',
    commandId: state.watch ?? 'none',
    limit: 'usd',
  }),
  agentInterrupted: (state) => ({ type: 'agentInterrupted', ...awaited(state) }),
  messageReceived: () => ({ type: 'messageReceived', messageId: 'x', text: 't', run: true }),
  confirmationAnswered: () => ({ type: 'confirmationAnswered', requestId: 'x', accept: true, reason: '' }),
  continueRequested: () => ({ type: 'continueRequested', requestId: 'x' }),
  interruptRequested: () => ({ type: 'interruptRequested', requestId: 'x' }),
  accessRequested: () => ({ type: 'accessRequested', requestId: 'x' }),
  metadataChanged: () => ({ type: 'metadataChanged', requestId: 'x', title: 'new', tags: { a: 'b' } }),
  deleteRequested: () => ({ type: 'deleteRequested', requestId: 'x' }),
  conversationRemoved: (state) => ({ type: 'conversationRemoved', ...awaited(state), sandboxToRemove: true }),
  deadline: () => ({ type: 'deadline' }),
  sandboxNoticed: (state) => ({ type: 'sandboxNoticed', sandbox: next(state, at.UP) }),
  attachAnswered: (state) => ({
    type: 'attachAnswered',
    requestId: state.attachRequestId ?? 'none',
    accepted: true,
    sandbox: next(state, {}),
  }),
  resumeAnswered: (state) => ({
    type: 'resumeAnswered',
    requestId: state.resumeRequestId ?? 'none',
    refusal: null,
    sandbox: next(state, at.UP),
  }),
};

const shown = (word: string, event: ConversationEvent) => ({ word, event });

walkTable({
  name: 'conversation',
  machine: conversationMachine,
  table: CONVERSATION_TABLE,
  phases: CONVERSATION_PHASES,
  states: Object.entries(LIVES).map(([name, live]) => {
    const life = live();
    return { name, state: life.its, now: life.now };
  }),
  events: EVENTS,
  more: (state) => [
    shown('released', { type: 'sandboxNoticed', sandbox: next(state, at.RELEASED) }),
    shown('pausing', { type: 'sandboxNoticed', sandbox: next(state, at.PAUSING) }),
    shown('gone', { type: 'sandboxNoticed', sandbox: next(state, at.GONE) }),
    shown('older', { type: 'sandboxNoticed', sandbox: next(state, { generation: 0 }) }),
    shown('refused', { ...EVENTS.attachAnswered(state), accepted: false }),
    shown('refused', {
      ...EVENTS.resumeAnswered(state),
      refusal: 'resume_failed',
      sandbox: next(state, at.RELEASED),
    }),
    shown('gone', {
      ...EVENTS.resumeAnswered(state),
      refusal: 'sandbox_missing',
      sandbox: next(state, at.GONE),
    }),
    shown('of an older generation', {
      type: 'agentReported',
      commandId: null,
      report: { ...report(state, 'ERROR'), generation: 0 },
    }),
  ],
});
