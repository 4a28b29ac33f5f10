/**
 * Runs of one or more items in every phase, reached the way they are reached in life.
 * Owns the notices their conversations would send; must not run a conversation.
 */
import { conversationId, runId, type ConversationId } from '../../core/ids.ts';
import { runMachine, type RunCommand } from '../../core/run/machine.ts';
import type { RunEvent } from '../../core/run/message.ts';
import type { RunRules } from '../../core/run/rules.ts';
import type { RunItem, RunItemSpec, RunState } from '../../core/run/state.ts';
import type { ConversationSnapshot } from '../../core/machine/snapshot.ts';
import type { FailureClass } from '../../core/status.ts';
import { Life } from './life.ts';
import { SANDBOX, USER } from './sandbox-life.ts';

export const RULES: RunRules = {
  concurrency: 1,
  sharesSandboxes: false,
  explicitSandboxId: null,
  retry: [],
  breaker: null,
  budget: null,
  wait: {
    until: ['FINISHED', 'ERROR', 'STUCK'],
    deadlineMs: null,
    noProgressMs: null,
    onSessionLimit: 'resume',
  },
  cleanup: { sandbox: 'delete', conversation: 'keep', onCollectFailure: 'keep' },
  settleMs: 60_000,
};

export const ITEM: RunItemSpec = { key: 'k0', priority: 0, hasVerify: false, workingMs: null };

export const SUMMARY = {
  rows: 0,
  totalNanoUsd: 0,
  assignedNanoUsd: 0,
  ambiguousNanoUsd: 0,
  unassignedNanoUsd: 0,
  withinTolerance: true,
} as const;

/** The conversation of an item's attempt, by number. */
export const conversationOf = (index: number, attempt: number): ConversationId =>
  conversationId(`${index}${attempt}`.padStart(32, 'c'));

export class RunLife extends Life<RunState | null, RunEvent, RunCommand> {
  private requests = 0;
  private sequence = 0;

  constructor(rules: Partial<RunRules> = {}, items: readonly Partial<RunItemSpec>[] = [{}]) {
    super(runMachine, null);
    const specs = items.map((item, index) => ({ ...ITEM, key: `k${index}`, ...item }));
    this.send({
      type: 'runStarted',
      spec: {
        runId: runId('r'),
        userId: USER,
        name: 'n',
        planHash: 'h',
        rules: { ...RULES, ...rules },
        items: specs,
      },
    });
  }

  get its(): RunState {
    if (this.state === null) throw new Error('Cannot look at the run: it is not born');
    return this.state;
  }

  item(index = 0): RunItem {
    const item = this.its.items[index];
    if (item === undefined) throw new Error(`Cannot look at item ${index}: there is none`);
    return item;
  }

  started(index = 0): this {
    const { attempt, awaiting } = this.item(index);
    return this.send({
      type: 'conversationStarted',
      commandId: awaiting ?? 'none',
      index,
      conversationId: conversationOf(index, attempt),
    });
  }

  notice(change: Partial<ConversationSnapshot>, index = 0): this {
    this.sequence += 1;
    const { conversationId: known, attempt } = this.item(index);
    return this.send({
      type: 'conversationNoticed',
      conversation: {
        conversationId: known ?? conversationOf(index, attempt),
        itemIndex: index,
        generation: 0,
        sequence: this.sequence,
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
    });
  }

  works(index = 0): this {
    return this.started(index).notice({}, index);
  }

  rests(status: ConversationSnapshot['executionStatus'], index = 0): this {
    return this.notice({ executionStatus: status, settled: true }, index);
  }

  answer(
    type: 'itemVerified' | 'verifyFailed' | 'itemCollected' | 'collectFailed' | 'startRefused',
    rest: object,
    index = 0,
  ): this {
    const commandId = this.item(index).awaiting ?? 'none';
    return this.send({ type, commandId, index, ...rest } as unknown as RunEvent);
  }

  collected(costNanoUsd = 5, index = 0): this {
    return this.answer('itemCollected', { costNanoUsd }, index);
  }

  gone(index = 0): this {
    return this.notice({ sandboxStatus: 'MISSING', settled: true, executionStatus: 'FINISHED' }, index);
  }

  ask(type: 'cancelRequested' | 'drainRequested'): this {
    return this.send({ type, requestId: this.request() });
  }

  resume(...classes: readonly FailureClass[]): this {
    return this.send({ type: 'resumeRequested', requestId: this.request(), classes });
  }

  timer(): this {
    return this.expire({ type: 'deadline' });
  }

  private request(): string {
    this.requests += 1;
    return `q${this.requests}`;
  }
}

export const POOL: NonNullable<RunRules['pool']> = {
  size: 2,
  maxPerSandbox: 1,
  recycleAfter: null,
  recycleAgeMs: null,
  onFull: 'wait',
  warm: false,
};

/** Its sandboxes are ordered, and nothing has begun. */
export const warming = (rules: Partial<RunRules> = {}): RunLife =>
  new RunLife({ ...rules, sharesSandboxes: true, pool: { ...POOL, warm: true } });

export const begun = (rules: Partial<RunRules> = {}) => new RunLife(rules);
export const working = (rules: Partial<RunRules> = {}) => begun(rules).works();
export const collecting = (rules: Partial<RunRules> = {}) => working(rules).rests('FINISHED');
export const cleaning = (rules: Partial<RunRules> = {}) => collecting(rules).collected();
export const settling = (rules: Partial<RunRules> = {}) => cleaning(rules).gone();
export const reconciling = (rules: Partial<RunRules> = {}) => settling(rules).timer();
export const reporting = (rules: Partial<RunRules> = {}) => {
  const life = reconciling(rules);
  return life.send({ type: 'runReconciled', commandId: life.its.awaiting ?? 'none', summary: SUMMARY });
};
export const finished = () => {
  const life = reporting();
  return life.send({ type: 'runReported', commandId: life.its.awaiting ?? 'none' });
};
/** At the first of so many last steps. */
export const closing = (steps = 1) => {
  const life = reporting({ finally: Array.from({ length: steps }, () => ({ timeoutMs: 60_000 })) });
  return life.send({ type: 'runReported', commandId: life.its.awaiting ?? 'none' });
};
