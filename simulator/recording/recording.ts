/**
 * What a run really took, as data that can be played again: no prompt, no secret, no text of an agent.
 * Owns the shape, its version, and how the facts of a store become it; must not read a store.
 */
import type { Outcome } from '../../core/status.ts';
import type { AgentBehaviour } from '../models/model-options.ts';
import type { AttemptFacts, ItemFacts, RunFacts } from './run-facts.ts';

export type RecordedOutcome = keyof AgentBehaviour['outcomes'];

/** The last attempt at one item. Null: the store has no value. */
export interface RecordedConversation {
  readonly key: string;
  /** Attempts there were; only the last one is played. */
  readonly attempts: number;
  /** From the first message to the agent's rest, with every pause in between. */
  readonly workMs: number | null;
  /** Null when it did not come to rest by itself. */
  readonly outcome: RecordedOutcome | null;
  /** From the agent's rest to the end of the item: its check and its collection. */
  readonly afterMs: number | null;
  /** Null when nothing was checked. */
  readonly checkPassed: boolean | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Integer nano-USD. */
  readonly costNanoUsd: number | null;
  /** How often its sandbox was brought back. */
  readonly resumes: number;
}

/** A run as a file that can be played again. */
export interface Recording {
  readonly kind: 'recording';
  readonly format: 1;
  /** Name and plan hash of the job. */
  readonly job: string;
  readonly planHash: string;
  /** Milliseconds from the creation of each sandbox to the first event of an agent in it. */
  readonly bootsMs: readonly number[];
  /** Milliseconds that the stop of each sandbox took; empty in recordings of older versions. */
  readonly stopsMs: readonly number[];
  /**
   * Milliseconds of each sandbox of `stopsMs`, in the same order, in which its slot waited for the next step, none of the
   * above: from a slot that is free to the sandbox in it, from the first event to the first message, and from the end of
   * its item to its stop; null where it had several conversations, empty where nothing is known.
   */
  readonly handoversMs: readonly (number | null)[];
  /** Conversations that were requested, and those of them that did not come up. */
  readonly starts: { readonly asked: number; readonly failed: number };
  readonly conversations: readonly RecordedConversation[];
}

/** The recording of a run that has ended. */
export function recordingOf({ job, planHash, items, attempts }: RunFacts): Recording {
  const last = new Map<string, AttemptFacts>();
  for (const attempt of attempts)
    if (attempt.createdAt >= (last.get(attempt.key)?.createdAt ?? -Infinity)) last.set(attempt.key, attempt);
  const handovers = handoversOf(items, attempts);
  const stops = stopsOf(attempts);
  return {
    kind: 'recording',
    format: 1,
    job,
    planHash,
    bootsMs: bootsOf(attempts),
    stopsMs: stops.map(({ stopMs }) => stopMs),
    handoversMs: handovers.size === 0 ? [] : stops.map(({ id }) => handovers.get(id) ?? null),
    starts: { asked: attempts.length, failed: attempts.filter(({ startFailed }) => startFailed).length },
    conversations: items
      .filter(({ attempts: count }) => count > 0)
      .map((item) => conversationOf(item, last.get(item.key) ?? null)),
  };
}

/** The first conversation of a sandbox waits for its boot; those that join later do not. */
function bootsOf(attempts: readonly AttemptFacts[]): number[] {
  const first = new Map<string, number>();
  for (const { sandbox, firstEventAt } of attempts) {
    if (sandbox === null || firstEventAt === null || firstEventAt < sandbox.createdAt) continue;
    const bootMs = firstEventAt - sandbox.createdAt;
    first.set(sandbox.id, Math.min(bootMs, first.get(sandbox.id) ?? Infinity));
  }
  return [...first.values()].sort((a, b) => a - b);
}

interface Stop {
  readonly id: string;
  readonly stopMs: number;
}

function stopsOf(attempts: readonly AttemptFacts[]): Stop[] {
  const stops = new Map<string, Stop>();
  for (const { sandbox } of attempts)
    if (sandbox !== null && sandbox.stopMs !== null)
      stops.set(sandbox.id, { id: sandbox.id, stopMs: sandbox.stopMs });
  return [...stops.values()].sort((a, b) => a.stopMs - b.stopMs);
}

function conversationOf(item: ItemFacts, attempt: AttemptFacts | null): RecordedConversation {
  const { key, attempts, outcome, hasCheck } = item;
  const rested = restOf(attempt);
  const spend = attempt?.spend ?? null;
  // What an item cost is the sum over its attempts, so it says what one attempt cost only when there was one.
  const costNanoUsd = attempts === 1 ? (item.costNanoUsd ?? spend?.costNanoUsd) : spend?.costNanoUsd;
  return {
    key,
    attempts,
    workMs: between(attempt?.firstMessageAt ?? attempt?.firstEventAt ?? null, rested?.at ?? null),
    outcome: rested?.outcome ?? null,
    afterMs: between(rested?.at ?? null, item.endedAt),
    checkPassed: hasCheck ? checkOf(outcome) : null,
    inputTokens: spend?.inputTokens ?? null,
    outputTokens: spend?.outputTokens ?? null,
    costNanoUsd: costNanoUsd ?? null,
    resumes: Math.max(0, (attempt?.sandbox?.generation ?? 1) - 1),
  };
}

function restOf(
  attempt: AttemptFacts | null,
): { readonly at: number; readonly outcome: RecordedOutcome } | null {
  if (attempt === null || attempt.restedAt === null) return null;
  const { executionStatus: status, restedAt: at } = attempt;
  return status === 'FINISHED' || status === 'ERROR' || status === 'STUCK' ? { at, outcome: status } : null;
}

/** A job's check is run only for what finished (D28). */
function checkOf(outcome: Outcome | null): boolean | null {
  if (outcome === 'succeeded') return true;
  return outcome === 'check_failed' ? false : null;
}

/** Two clocks may disagree by a little; nothing takes less than no time. */
function between(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : Math.max(0, to - from);
}

/** A sandbox that served one conversation from its first instant to its stop. */
interface Stay {
  readonly sandboxId: string;
  readonly admittedAt: number;
  readonly createdAt: number;
  readonly stoppedAt: number;
  /** Between its steps, milliseconds. */
  readonly withinMs: number;
}

/** Milliseconds by sandbox, of each that had one conversation and was stopped after it. */
function handoversOf(
  items: readonly ItemFacts[],
  attempts: readonly AttemptFacts[],
): ReadonlyMap<string, number> {
  const stays = staysOf(items, attempts);
  const slots = mostAtOnce(stays);
  const freed = stays.map(({ stoppedAt }) => stoppedAt).sort(ascending);
  return new Map(
    stays
      .sort((a, b) => a.createdAt - b.createdAt)
      .map(({ sandboxId, admittedAt, createdAt, withinMs }, index) => {
        // Slots go on in the order in which they come free, to the conversation that was admitted first (D29).
        const freeAt = index < slots ? admittedAt : (freed[index - slots] ?? admittedAt);
        return [sandboxId, withinMs + Math.max(0, createdAt - Math.max(freeAt, admittedAt))];
      }),
  );
}

const ascending = (a: number, b: number): number => a - b;

function staysOf(items: readonly ItemFacts[], attempts: readonly AttemptFacts[]): Stay[] {
  const itemOf = new Map(items.map((item) => [item.key, item]));
  const served = new Map<string, number>();
  for (const { sandbox } of attempts)
    if (sandbox !== null) served.set(sandbox.id, (served.get(sandbox.id) ?? 0) + 1);
  return attempts.flatMap(({ key, sandbox, firstEventAt, firstMessageAt }) => {
    const { admittedAt = null, endedAt = null, attempts: tries = 0 } = itemOf.get(key) ?? {};
    if (sandbox === null || served.get(sandbox.id) !== 1 || tries !== 1) return [];
    const { createdAt, stopMs, stoppedAt } = sandbox;
    if (admittedAt === null || endedAt === null || stopMs === null || stoppedAt === null) return [];
    const greeting = (firstMessageAt ?? firstEventAt ?? 0) - (firstEventAt ?? 0);
    const leaving = stoppedAt - stopMs - endedAt;
    const withinMs = Math.max(0, greeting) + Math.max(0, leaving);
    return [{ sandboxId: sandbox.id, admittedAt, createdAt, stoppedAt, withinMs }];
  });
}

function mostAtOnce(stays: readonly Stay[]): number {
  // A slot that is freed in the same millisecond is free for a conversation that comes then.
  const changes = stays
    .flatMap(({ createdAt, stoppedAt }) => [
      { at: createdAt, by: 1 },
      { at: stoppedAt, by: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.by - b.by);
  let most = 0;
  let held = 0;
  for (const { by } of changes) most = Math.max(most, (held += by));
  return most;
}
