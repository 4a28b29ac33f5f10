/** Runs in which an invariant is broken: last steps, an open breaker, an amended plan, an end that was none. Owns the cases; dealings.test.ts shows them to their checkers. */
import type { RunItem, RunState } from '../../core/run/state.ts';
import { NOW, run, type Case } from './doctored.ts';

const [first] = run().items;
const item = (change: Partial<RunItem>): RunState => run({ items: [{ ...(first as RunItem), ...change }] });
const ENDED = { phase: 'ended', ending: { outcome: 'succeeded', failureClass: null, detail: null } } as const;
/** At one of two last steps. */
const closingAt = (step: number): RunState => ({
  ...item(ENDED),
  rules: { ...run().rules, finally: [{ timeoutMs: 1 }, { timeoutMs: 1 }] },
  phase: 'closing',
  awaiting: 'c',
  closing: { step, by: NOW + 1 },
});
const BREAKER = { on: ['infra'], windowMs: 1, count: 1, recover: { afterMs: 1, probes: 1 } } as const;
/** Its breaker has cooled down at that instant. */
const tripped = (until: number): RunState => ({
  ...item({ phase: 'waiting' }),
  rules: { ...run().rules, breaker: BREAKER },
  trip: { until, probingSince: null, passed: 0 },
});
const probing: RunState = {
  ...tripped(NOW),
  ...{ items: item({ phase: 'starting', attempt: 1, admittedAt: NOW }).items, byPhase: undefined },
  trip: { until: NOW, probingSince: NOW, passed: 0 },
};
const NEXT = { plan: 'h', hasVerify: false, workingMs: null };
const finished = (outcome: 'succeeded' | 'failed'): RunState => {
  const ending = { outcome, failureClass: null, detail: null };
  return { ...item({ phase: 'ended', ending }), phase: 'finished' };
};
const requeue = { type: 'requeueRequested', requestId: 'q', keys: ['k0'] } as const;

const worksUnder = (deadlineMs: number, change: Partial<RunItem>): RunState => ({
  ...item({ phase: 'working', attempt: 1, admittedAt: NOW, workingMs: 1_000, ...change }),
  rules: { ...run().rules, wait: { ...run().rules.wait, deadlineMs } },
});
const endsBy = (detail: string): Partial<RunItem> => ({
  ending: { outcome: 'failed', failureClass: null, detail },
});
const LATE = 'the deadline of the job';
const judged = (broken: RunState, holds: RunState, begun: RunState): Case => ({
  name: 'R6',
  machine: 'run',
  holds: [
    { before: item({ phase: 'waiting' }), after: begun, at: NOW },
    { before: begun, after: holds, at: NOW + 1_000 },
  ],
  broken: [
    { before: item({ phase: 'waiting' }), after: begun, at: NOW },
    { before: begun, after: broken, at: NOW + 999 },
  ],
});
const atWork = { workingSince: NOW };
const HAS_ITS_TIME = [
  judged(worksUnder(1_000, endsBy(LATE)), worksUnder(1_000, endsBy(LATE)), worksUnder(1_000, {})),
  judged(
    worksUnder(9_000, { ...atWork, ...endsBy('working') }),
    worksUnder(9_000, { ...atWork, ...endsBy('working') }),
    worksUnder(9_000, atWork),
  ),
];

export const OF_RUNS: readonly Case[] = [
  {
    name: 'R2',
    machine: 'run',
    holds: [{ before: closingAt(1), after: { ...closingAt(1), phase: 'finished', closing: undefined } }],
    broken: [{ before: closingAt(0), after: { ...closingAt(0), phase: 'finished', closing: undefined } }],
  },
  {
    name: 'R2',
    machine: 'run',
    holds: [{ after: closingAt(0) }],
    broken: [{ after: { ...closingAt(0), phase: 'reporting' } }],
  },
  {
    name: 'R1',
    machine: 'run',
    holds: [{ before: tripped(NOW), after: probing }],
    broken: [{ before: tripped(NOW + 1), after: probing }],
  },
  {
    name: 'R4',
    machine: 'run',
    holds: [{ before: item({ phase: 'waiting' }), after: item({ phase: 'starting', plan: 'h' }) }],
    broken: [{ before: item({ phase: 'working' }), after: item({ phase: 'working', plan: 'h' }) }],
  },
  {
    name: 'R4',
    machine: 'run',
    holds: [{ before: item({ phase: 'waiting', next: NEXT }), after: item({ attempt: 1, plan: 'h' }) }],
    broken: [{ before: item({ phase: 'waiting', next: NEXT }), after: item({ attempt: 1 }) }],
  },
  ...HAS_ITS_TIME,
  {
    name: 'I30',
    machine: 'run',
    holds: [{ before: finished('failed'), after: item({ phase: 'waiting' }), event: requeue }],
    broken: [{ before: finished('succeeded'), after: item({ phase: 'waiting' }), event: requeue }],
  },
];
