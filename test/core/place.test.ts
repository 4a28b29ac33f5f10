/** Placement: five strategies, ties, the explicit choice, and a naive oracle (D16). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sandboxId, userId } from '../../core/ids.ts';
import { MAX_SESSION_MS, SESSION_LEFT_FOR_PLACEMENT_MS } from '../../core/limits.ts';
import { place, type PlacementCandidate, type PlacementQuestion } from '../../core/placement/place.ts';
import { GROUPING_STRATEGIES } from '../../core/status.ts';

const NOW = MAX_SESSION_MS * 2;
const US = userId('us');
const id = (name: string) => sandboxId(name.padStart(32, '0'));
const candidate = (name: string, change: Partial<PlacementCandidate> = {}): PlacementCandidate => ({
  sandboxId: id(name),
  userId: US,
  status: 'RUNNING',
  available: true,
  draining: false,
  createdAt: 10,
  lastActivityAt: 10,
  sessionStartedAt: NOW - 1,
  attachedCount: 1,
  ...change,
});
const ask = (change: Partial<PlacementQuestion>) =>
  place({
    userId: US,
    strategy: 'ADD_TO_ANY',
    explicit: null,
    excluded: [],
    candidates: [],
    conversationsPerSandboxMax: 20,
    now: NOW,
    ...change,
  });

const THREE = [
  candidate('1', { createdAt: 1, lastActivityAt: 9, attachedCount: 2 }),
  candidate('2', { createdAt: 2, lastActivityAt: 3, attachedCount: 5 }),
  candidate('3', { createdAt: 3, lastActivityAt: 7, attachedCount: 1 }),
];

describe('strategies', () => {
  it.each([
    ['NO_GROUPING', null],
    ['GROUP_BY_NEWEST', '3'],
    ['LEAST_RECENTLY_USED', '2'],
    ['FEWEST_CONVERSATIONS', '3'],
    ['ADD_TO_ANY', '1'],
  ] as const)('%s takes %s', (strategy, name) => {
    const placement = ask({ strategy, candidates: [...THREE].reverse() });
    expect(placement).toMatchObject(
      name === null
        ? { kind: 'new' }
        : { kind: 'existing', sandboxId: id(name), decision: { rule: strategy } },
    );
  });

  it.each(GROUPING_STRATEGIES.slice(1))('%s breaks ties by creation, then id', (strategy) => {
    const twins = [candidate('b'), candidate('a')];
    expect(ask({ strategy, candidates: twins })).toMatchObject({ sandboxId: id('a') });
  });

  it.each([
    [{ userId: userId('them') }, 'other_user'],
    [{ available: false }, 'runtime_not_up'],
    [{ draining: true }, 'draining'],
    [{ attachedCount: 20 }, 'full'],
    [{ sessionStartedAt: NOW - MAX_SESSION_MS + SESSION_LEFT_FOR_PLACEMENT_MS - 1 }, 'session_ends_soon'],
  ] as const)('%j is not available: %s', (change, why) => {
    const placement = ask({ candidates: [candidate('1', change)] });
    expect(placement).toMatchObject({ kind: 'new', decision: { seen: [{ why }] } });
  });

  it('wants ten minutes of the session, and takes exactly ten', () => {
    const sessionStartedAt = NOW - MAX_SESSION_MS + SESSION_LEFT_FOR_PLACEMENT_MS;
    expect(ask({ candidates: [candidate('1', { sessionStartedAt })] })).toMatchObject({ kind: 'existing' });
  });
});

describe('the explicit choice', () => {
  it('overrides the strategy, and takes a released sandbox to resume it', () => {
    const released = candidate('9', { status: 'PAUSED', available: false, sessionStartedAt: null });
    const placement = ask({ strategy: 'NO_GROUPING', explicit: id('9'), candidates: [...THREE, released] });
    expect(placement).toMatchObject({ kind: 'existing', sandboxId: id('9'), decision: { rule: 'EXPLICIT' } });
  });

  it.each([
    [{ status: 'ERROR' }, 'sandbox_error'],
    [{ status: 'MISSING' }, 'sandbox_missing'],
    [{ draining: true }, 'sandbox_missing'],
    [{ attachedCount: 20 }, 'placement_failed'],
    [{ userId: userId('them') }, 'not_found'],
    [{ sandboxId: id('8') }, 'not_found'],
  ] as const)('%j is refused as %s', (change, code) => {
    const placement = ask({ explicit: id('9'), candidates: [candidate('9', change)] });
    expect(placement).toMatchObject({ kind: 'refused', refusal: { code } });
  });
});

/** Walks the list and keeps the better one: no sorting, no tables. */
function naive(question: PlacementQuestion): string | null {
  const key = (one: PlacementCandidate): readonly (number | string)[] => {
    const tie = [one.createdAt, one.sandboxId];
    if (question.strategy === 'GROUP_BY_NEWEST') return [-one.createdAt, ...tie];
    if (question.strategy === 'LEAST_RECENTLY_USED') return [one.lastActivityAt, ...tie];
    return question.strategy === 'FEWEST_CONVERSATIONS' ? [one.attachedCount, ...tie] : tie;
  };
  const isBefore = (a: readonly (number | string)[], b: readonly (number | string)[]): boolean => {
    const at = a.findIndex((value, n) => value !== b[n]);
    return at !== -1 && (a[at] ?? 0) < (b[at] ?? 0);
  };
  let best: PlacementCandidate | null = null;
  for (const one of question.candidates) {
    const fits = one.userId === US && one.available && !one.draining && one.attachedCount < 20;
    const isLong = one.sessionStartedAt !== null && one.sessionStartedAt + MAX_SESSION_MS - NOW >= 600_000;
    if (!fits || !isLong || question.excluded.includes(one.sandboxId)) continue;
    if (best === null || isBefore(key(one), key(best))) best = one;
  }
  return question.strategy === 'NO_GROUPING' ? null : (best?.sandboxId ?? null);
}

it('chooses what a naive walk chooses, in whatever order the candidates come', () => {
  const small = fc.nat({ max: 3 });
  const any = fc.record({
    name: fc.constantFrom('1', '2', '3', '4'),
    userId: fc.constantFrom(US, US, US, userId('them')),
    available: fc.boolean(),
    draining: fc.boolean(),
    createdAt: small,
    lastActivityAt: small,
    attachedCount: fc.constantFrom(0, 1, 19, 20),
    sessionStartedAt: fc.constantFrom(
      null,
      NOW,
      NOW - MAX_SESSION_MS + 600_000,
      NOW - MAX_SESSION_MS + 599_999,
    ),
  });
  const list = fc.uniqueArray(any, { selector: ({ name }) => name, maxLength: 4 });
  fc.assert(
    fc.property(
      list,
      fc.constantFrom(...GROUPING_STRATEGIES),
      fc.subarray(['1', '2']),
      (given, strategy, out) => {
        const candidates = given.map(({ name, ...change }) => candidate(name, change));
        const question = { strategy, candidates, excluded: out.map(id) };
        const placement = ask(question);
        const chosen = placement.kind === 'existing' ? placement.sandboxId : null;
        const whole = { userId: US, explicit: null, conversationsPerSandboxMax: 20, now: NOW, ...question };
        expect(chosen).toBe(naive(whole));
      },
    ),
  );
});
