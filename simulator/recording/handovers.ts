/**
 * What lies between the steps of a run: the time in which a slot is taken or awaited and nothing that has a name goes on.
 * Owns which slot a sandbox took over; must not know what the steps themselves take.
 */
import type { AttemptFacts, ItemFacts } from './run-facts.ts';

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
export function handoversOf(
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
        // Slots go on in the order in which they come free, to whoever was admitted first (D29).
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
  // A slot that is freed in the same millisecond is free for who comes then.
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
