/**
 * A play as rows over its time: how many conversations do what, and how many slots are held.
 * Owns the arithmetic and the words; pure.
 */
import type { ResultOf } from '../../api/client/client.ts';

export type Simulation = ResultOf<'simulate_job'>;

/** From below: what is done lies at the bottom, what waits on top. Each has its class in the style sheets. */
export const STACK = ['ended', 'working', 'paused', 'starting', 'queued'] as const;
export type Activity = (typeof STACK)[number];

export const ACTIVITY_LABELS: Readonly<Record<Activity, string>> = {
  queued: 'Waiting',
  starting: 'Starting',
  working: 'Working',
  paused: 'Paused',
  ended: 'Done',
};

const LIMIT_LABELS: Readonly<Record<string, string>> = {
  capacity: 'wait for a free sandbox',
  idle_pause: 'are paused because they are idle',
  session_cap: 'meet the longest session',
  budget: 'meet a budget',
  user_pause: 'are paused by their user',
};

/** A sentence for each limit that a conversation meets, the one of most conversations first. */
export function limitSentences({ met }: Pick<Simulation, 'met'>): readonly string[] {
  return Object.entries(met)
    .sort(([, a], [, b]) => b - a)
    .map(([limit, count]) => `${count.toLocaleString()} ${LIMIT_LABELS[limit] ?? `meet ${limit}`}`);
}

export type Counts = Readonly<Record<Activity, number>>;

/** What holds at one instant, milliseconds since the beginning. A thinned list of steps may begin later. */
export interface Instant {
  readonly atMs: number;
  readonly counts: Counts;
  readonly slots: number;
}

const NOBODY: Counts = { queued: 0, starting: 0, working: 0, paused: 0, ended: 0 };

export function instantAt(
  { activities, slots }: Pick<Simulation, 'activities' | 'slots'>,
  atMs: number,
): Instant {
  return {
    atMs,
    counts: lastUntil(activities, atMs) ?? activities[0] ?? NOBODY,
    slots: lastUntil(slots, atMs)?.value ?? 0,
  };
}

/** So many instants as evenly as they go, the beginning and the end among them. */
export function instantsOf(
  of: Pick<Simulation, 'activities' | 'slots' | 'shown_until_ms'>,
  count: number,
): readonly Instant[] {
  const times = Array.from({ length: count }, (_, at) =>
    Math.round((of.shown_until_ms * at) / Math.max(1, count - 1)),
  );
  return [...new Set(times)].map((atMs) => instantAt(of, atMs));
}

/** Points in order; the last one that is not later. */
function lastUntil<Point extends { readonly at_ms: number }>(
  points: readonly Point[],
  atMs: number,
): Point | undefined {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.at_ms ?? Infinity) <= atMs) low = middle + 1;
    else high = middle;
  }
  return points[low - 1];
}

/** Instants of the steps in ascending order, and for each row what holds from there on. */
export interface Steps {
  readonly times: readonly number[];
  readonly rows: readonly (readonly number[])[];
}

/** A row for each of `STACK`, on top of those before it. */
export function stackedSteps({
  activities,
  shown_until_ms: untilMs,
}: Pick<Simulation, 'activities' | 'shown_until_ms'>): Steps {
  const points = framed(activities, untilMs, { ...(activities[0] ?? NOBODY), at_ms: 0 });
  const rows = STACK.map((_, place) =>
    points.map((point) => STACK.slice(0, place + 1).reduce((sum, as) => sum + point[as], 0)),
  );
  return { times: points.map(({ at_ms: at }) => at), rows };
}

/** The slots that are held; a second row for the bound, where it does not squash the picture. */
export function slotSteps({
  slots,
  shown_until_ms: untilMs,
  sandboxes_peak: peak,
  sandboxes_max: max,
}: Pick<Simulation, 'slots' | 'shown_until_ms' | 'sandboxes_peak' | 'sandboxes_max'>): Steps {
  const points = framed(slots, untilMs, { at_ms: 0, value: 0 });
  const held = points.map(({ value }) => value);
  return {
    times: points.map(({ at_ms: at }) => at),
    rows: max <= 4 * Math.max(1, peak) ? [held, held.map(() => max)] : [held],
  };
}

/** From the beginning to the end of what is shown, and nothing beyond. */
function framed<Point extends { readonly at_ms: number }>(
  points: readonly Point[],
  untilMs: number,
  first: Point,
): readonly Point[] {
  const inside = points.filter(({ at_ms: at }) => at <= untilMs);
  const begun = inside[0]?.at_ms === 0 ? inside : [first, ...inside];
  const last = begun.at(-1) ?? first;
  return last.at_ms === untilMs ? begun : [...begun, { ...last, at_ms: untilMs }];
}
