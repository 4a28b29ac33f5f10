/** Every cell of the run's table, absent ones included, against the golden file. */
import type { RunEvent } from '../../core/run/message.ts';
import { runMachine } from '../../core/run/machine.ts';
import type { RunRules } from '../../core/run/rules.ts';
import { RUN_PHASES, type RunState } from '../../core/run/state.ts';
import { RUN_TABLE } from '../../core/run/table.ts';
import * as at from './run-life.ts';
import { SANDBOX } from './sandbox-life.ts';
import { walkTable } from './table-walk.ts';

/** What follows on the last item depends on what there is to clean up, to wait for and to reconcile. */
const KEEP: Partial<RunRules>['cleanup'] = { ...at.RULES.cleanup, sandbox: 'keep' };
const ENDS: Readonly<Record<string, Partial<RunRules>>> = {
  'sandbox to remove': {},
  'nothing to remove': { cleanup: KEEP },
  'no settling': { cleanup: KEEP, settleMs: 0 },
  'no reconciling': { cleanup: KEEP, settleMs: null },
};
const LAST_STEP = { timeoutMs: 60_000 };
const CLEANING: Readonly<Record<string, Partial<RunRules>>> = {
  settles: {},
  'no settling': { settleMs: 0 },
  'no reconciling': { settleMs: null },
};
/** A second conversation of an earlier attempt has left a sandbox that must go. */
const retry = [{ on: ['agent_error'], attempts: 3, initialMs: 0, factor: 1, maxMs: 0 }] as const;
const again = (rules: Partial<RunRules>) =>
  at
    .working({ ...rules, retry })
    .rests('ERROR')
    .collected();
const deadline = { ...at.RULES.wait, deadlineMs: 60_000 };
const toldToStop = (rules: Partial<RunRules>) => at.begun({ ...rules, wait: deadline }).timer();

const LIVES: Readonly<Record<string, () => at.RunLife>> = {
  'running (starts)': () => at.begun(),
  'running (works)': () => at.working(),
  'running (verifies)': () => new at.RunLife({}, [{ hasVerify: true }]).works().rests('FINISHED'),
  ...Object.fromEntries(
    Object.entries(ENDS).flatMap(([name, rules]) => [
      [`running (starts, ${name})`, () => at.begun(rules)],
      [`running (starts again, ${name})`, () => again(rules)],
      [`running (told to stop, ${name})`, () => toldToStop(rules)],
      [`running (told to stop again, ${name})`, () => again({ ...rules, wait: deadline }).timer()],
      [`running (in a shard, ${name})`, () => inShard(rules)],
      [`running (collects, ${name})`, () => at.collecting(rules)],
      [`running (all wait, ${name})`, () => held(rules)],
      [`running (waits after a try, ${name})`, () => heldAfterTry(rules)],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(CLEANING).map(([name, rules]) => [`cleaning (${name})`, () => at.cleaning(rules)]),
  ),
  'running (its pool warms)': () => at.warming(),
  ...Object.fromEntries(
    Object.entries(ENDS).map(([name, rules]) => [
      `cleaning (its pool warms, ${name})`,
      () => at.warming(rules).ask('cancelRequested'),
    ]),
  ),
  'running (its shard is not there)': () => at.begun({ shardItems: 1 }),
  'running (lets a sandbox go)': () =>
    new at.RunLife({ sharesSandboxes: false }, [{}, { key: 'k1' }]).works().rests('FINISHED').collected(),
  'running (collects, thrown away in any case)': () =>
    at.collecting({ cleanup: { ...at.RULES.cleanup, onCollectFailure: 'delete' } }),
  'cleaning (one failed)': () => at.working().rests('ERROR').collected(),
  settling: at.settling,
  'settling (one failed)': () => at.working().rests('ERROR').collected().gone(),
  reconciling: at.reconciling,
  'reconciling (one failed)': () => at.working().rests('ERROR').collected().gone().timer(),
  reporting: at.reporting,
  'reporting (one failed)': () => at.working({ settleMs: null }).rests('ERROR').collected().gone(),
  closing: at.closing,
  'closing (more to tell)': () => at.closing(2),
  'closing (one failed)': () => {
    const life = at
      .working({ settleMs: null, finally: [LAST_STEP] })
      .rests('ERROR')
      .collected()
      .gone();
    return life.send({ type: 'runReported', commandId: life.its.awaiting ?? 'none' });
  },
  'reporting (somebody to tell)': () => at.reporting({ finally: [LAST_STEP] }),
  finished: at.finished,
  'finished (one failed)': () => {
    const life = at.working({ settleMs: null }).rests('ERROR').collected().gone();
    return life.send({ type: 'runReported', commandId: life.its.awaiting ?? 'none' });
  },
};

function inShard(rules: Partial<RunRules>): at.RunLife {
  return at.begun({ ...rules, shardItems: 1 }).send({ type: 'shardReady', number: 0 });
}

/** A budget too small for one item holds the batch before it begins. */
function held(rules: Partial<RunRules>): at.RunLife {
  return at.begun({ ...rules, budget: { nanoUsd: 1, reserveNanoUsd: 2, mode: 'enforce' } });
}

/** Drained while its first try worked: the retry waits, and the first sandbox may still have to go. */
function heldAfterTry(rules: Partial<RunRules>): at.RunLife {
  return at
    .working({ ...rules, retry })
    .ask('drainRequested')
    .rests('ERROR')
    .collected();
}

const item = (state: RunState) => ({ commandId: state.items[0]?.awaiting ?? 'none', index: 0 });
const awaited = (state: RunState) => ({ commandId: state.awaiting ?? 'none' });

type Noticed = Extract<RunEvent, { type: 'conversationNoticed' }>;
function noticed(state: RunState, change: Partial<Noticed['conversation']>): Noticed {
  const known = state.items[0];
  return {
    type: 'conversationNoticed',
    conversation: {
      conversationId: known?.conversationId ?? at.conversationOf(0, known?.attempt ?? 0),
      itemIndex: 0,
      generation: 0,
      sequence: 1_000,
      startTask: 'READY',
      sandboxId: SANDBOX,
      sandboxStatus: 'RUNNING',
      pauseReason: null,
      executionStatus: 'RUNNING',
      interrupted: false,
      limitReached: null,
      settled: false,
      detail: null,
      deleted: false,
      ...change,
    },
  };
}

const EVENTS: { [Type in RunEvent['type']]: (state: RunState) => Extract<RunEvent, { type: Type }> } = {
  runStarted: (state) => ({
    type: 'runStarted',
    spec: {
      runId: state.runId,
      userId: state.userId,
      name: 'n',
      planHash: 'h',
      rules: state.rules,
      items: [],
    },
  }),
  shardReady: () => ({ type: 'shardReady', number: 0 }),
  attemptEnded: (state) => ({
    type: 'attemptEnded',
    index: 0,
    attempt: state.items[0]?.attempt ?? 0,
    phase: 'ended',
    ending: { outcome: 'succeeded', failureClass: null, detail: null },
    notBefore: null,
    costNanoUsd: 5,
    conversationId: at.conversationOf(0, 1),
    sandboxId: SANDBOX,
    sandboxStatus: 'RUNNING',
    isUncollected: false,
  }),
  conversationStarted: (state) => ({
    type: 'conversationStarted',
    ...item(state),
    conversationId: at.conversationOf(0, 1),
  }),
  startRefused: (state) => ({ type: 'startRefused', ...item(state), reason: 'r' }),
  conversationNoticed: (state) => noticed(state, { executionStatus: 'FINISHED', settled: true }),
  itemVerified: (state) => ({ type: 'itemVerified', ...item(state), passed: false, detail: null }),
  verifyFailed: (state) => ({ type: 'verifyFailed', ...item(state), reason: 'r' }),
  itemCollected: (state) => ({ type: 'itemCollected', ...item(state), costNanoUsd: 5 }),
  collectFailed: (state) => ({ type: 'collectFailed', ...item(state), reason: 'r' }),
  sandboxCleanedUp: (state) => ({
    type: 'sandboxCleanedUp',
    commandId: state.sandboxes[0]?.awaiting ?? 'none',
    sandboxId: SANDBOX,
    isOurs: false,
  }),
  poolWarmed: (state) => ({
    type: 'poolWarmed',
    commandId: state.warming ?? 'none',
    sandboxIds: [SANDBOX],
    reason: null,
  }),
  runReconciled: (state) => ({ type: 'runReconciled', ...awaited(state), summary: at.SUMMARY }),
  reconcileFailed: (state) => ({ type: 'reconcileFailed', ...awaited(state), reason: 'r' }),
  runReported: (state) => ({ type: 'runReported', ...awaited(state) }),
  runNotified: (state) => ({ type: 'runNotified', ...awaited(state), isSent: true }),
  notifyFailed: (state) => ({ type: 'notifyFailed', ...awaited(state), reason: 'r' }),
  cancelRequested: () => ({ type: 'cancelRequested', requestId: 'x' }),
  drainRequested: () => ({ type: 'drainRequested', requestId: 'x' }),
  resumeRequested: () => ({ type: 'resumeRequested', requestId: 'x', classes: ['agent_error'] }),
  holdRequested: () => ({ type: 'holdRequested', requestId: 'x' }),
  requeueRequested: () => ({ type: 'requeueRequested', requestId: 'x', keys: ['k0'] }),
  planAmended: (state) => ({
    type: 'planAmended',
    requestId: 'x',
    basePlanHash: state.planHash,
    planHash: 'h2',
    changed: [{ index: 0, spec: at.ITEM, isAnew: true }],
    added: [{ ...at.ITEM, key: 'k-new' }],
    retired: [],
  }),
  settingsChanged: () => ({ type: 'settingsChanged', requestId: 'x', settings: { concurrency: 7 } }),
  deadline: () => ({ type: 'deadline' }),
};

const shown = (word: string, event: RunEvent) => ({ word, event });

walkTable({
  name: 'run',
  machine: runMachine,
  table: RUN_TABLE,
  phases: RUN_PHASES,
  states: Object.entries(LIVES).map(([name, live]) => {
    const life = live();
    return { name, state: life.its, now: life.now };
  }),
  events: EVENTS,
  more: (state) => [
    shown('ours', { ...EVENTS.sandboxCleanedUp(state), isOurs: true }),
    shown('nobody of that name', { ...EVENTS.requeueRequested(state), keys: ['nobody'] }),
    shown('compared with another plan', { ...EVENTS.planAmended(state), basePlanHash: 'h0' }),
    shown('only this item', { ...EVENTS.cancelRequested(state), keys: ['k0'] }),
    shown('start failed', noticed(state, { startTask: 'ERROR', detail: 'placement_failed: r' })),
    shown('sandbox gone', noticed(state, { sandboxStatus: 'MISSING', settled: true })),
    shown(
      'deleted',
      noticed(state, { deleted: true, startTask: 'WORKING', sandboxId: null, sandboxStatus: null }),
    ),
    shown(
      'waits for its user',
      noticed(state, { executionStatus: 'WAITING_FOR_CONFIRMATION', settled: true }),
    ),
    shown(
      'cut off',
      noticed(state, {
        sandboxStatus: 'PAUSED',
        pauseReason: 'session_limit',
        interrupted: true,
        settled: true,
      }),
    ),
  ],
});
