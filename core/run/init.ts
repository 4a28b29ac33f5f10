/**
 * The first state of a run: nothing has begun, everything waits.
 * Owns first values; how a plan becomes the spec of a run is in core/run/run-spec.ts. Must not own a transition.
 */
import { initShards } from './shards.ts';
import type { RunRules } from './rules.ts';
import type { Pace, RunSpec, RunItem, RunItemSpec, RunState } from './state.ts';

export function initRun(spec: RunSpec, now: number): RunState {
  return {
    version: 1,
    commandCount: 0,
    runId: spec.runId,
    userId: spec.userId,
    name: spec.name,
    planHash: spec.planHash,
    rules: spec.rules,
    phase: 'running',
    mode: 'normal',
    reason: null,
    sequence: 0,
    createdAt: now,
    endedAt: null,
    items: spec.items.map(initItem),
    byPhase: undefined,
    sandboxes: [],
    spentNanoUsd: 0,
    breakerHits: [],
    trip: undefined,
    pace: initPace(spec.rules, now),
    awaiting: null,
    warming: undefined,
    cleanBy: null,
    settleAt: null,
    reconciliation: null,
    reconcileError: null,
    closing: undefined,
    seen: [],
    shards: initShards(spec),
    slice: undefined,
  };
}

export function initPace({ canary }: RunRules, now: number): Pace {
  return {
    rampFrom: now,
    lastStartAt: null,
    places: null,
    loweredAt: null,
    calm: 0,
    canary: canary ?? null,
    saidSoft: false,
    heldBy: null,
    heldUntil: null,
  };
}

export function initItem(spec: RunItemSpec): RunItem {
  return {
    ...spec,
    phase: 'waiting',
    attempt: 0,
    failures: {},
    conversationId: null,
    past: [],
    noticed: -1,
    sandboxId: null,
    sandboxStatus: null,
    executionStatus: null,
    awaiting: null,
    ending: null,
    costNanoUsd: 0,
    admittedAt: null,
    workingSince: null,
    workedMs: 0,
    endedAt: null,
    notBefore: spec.notBefore ?? null,
    stopBy: null,
    continued: 0,
    limitReached: null,
  };
}
