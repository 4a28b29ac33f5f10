/**
 * What a play looks like over time: slots held, spend, and conversations by activity.
 * Owns the shapes, their bounds and the reading of timelines; must not draw.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { ConversationId, MachineName } from '../../core/ids.ts';
import { slotsMaxOf } from '../models/model-options.ts';
import type { Activity, Stretch } from '../plan-timeline.ts';
import type { SimulationStep } from '../simulation-options.ts';
import type { WorldFacts } from '../world-facts.ts';

/** Epoch milliseconds, and what holds from there on. */
export interface CurvePoint {
  readonly at: number;
  readonly value: number;
}

type ActivityCounts = Readonly<Record<Activity, number>>;

/** The lines of one play. */
export interface Curves {
  /** A step function: capacity slots held. */
  readonly slots: readonly CurvePoint[];
  /** Slots there are for one user of the deployment: the smaller of its two bounds. */
  readonly slotsMax: number;
  /** Straight lines between points: integer nano-USD spent so far, collected or not. */
  readonly costNanoUsd: readonly CurvePoint[];
  /** Step functions that add up to all conversations. */
  readonly activities: readonly ({ readonly at: number } & ActivityCounts)[];
}

/** More points than a wide screen has columns show nothing more. */
export const CURVE_POINTS_MAX = 1_000;

const NOBODY: ActivityCounts = { queued: 0, starting: 0, working: 0, paused: 0, ended: 0 };

/** How many conversations do what, from each instant at which that changes. */
export function activityCurve(
  conversations: readonly { readonly stretches: readonly Stretch[] }[],
): Curves['activities'] {
  const changes = conversations.flatMap(({ stretches }) =>
    stretches.map(({ from, as }, index) => ({ at: from, from: stretches[index - 1]?.as ?? null, to: as })),
  );
  changes.sort((a, b) => a.at - b.at);
  const counts: Record<Activity, number> = { ...NOBODY };
  const points: ({ at: number } & ActivityCounts)[] = [];
  for (const { at, from, to } of changes) {
    if (from !== null) counts[from] -= 1;
    counts[to] += 1;
    if (points.at(-1)?.at === at) points.pop();
    points.push({ at, ...counts });
  }
  return lastOfEachBucket(points, CURVE_POINTS_MAX);
}

/** At most `pointsMax` points, 2 or more; of the points left out none was higher than its neighbours that stay. */
export function boundedPeaks(points: readonly CurvePoint[], pointsMax = CURVE_POINTS_MAX): CurvePoint[] {
  if (points.length <= pointsMax) return [...points];
  return bucketsOf(points, Math.floor(pointsMax / 2)).flatMap((bucket) => {
    const highest = bucket.reduce((best, point) => (point.value > best.value ? point : best));
    const last = bucket.at(-1);
    return last === undefined || last === highest ? [highest] : [highest, last];
  });
}

function lastOfEachBucket<Point extends { readonly at: number }>(
  points: readonly Point[],
  pointsMax: number,
): Point[] {
  if (points.length <= pointsMax) return [...points];
  return bucketsOf(points, pointsMax).flatMap((bucket) => bucket.slice(-1));
}

/** Points by equal stretches of time; empty stretches are left out. */
function bucketsOf<Point extends { readonly at: number }>(
  points: readonly Point[],
  count: number,
): Point[][] {
  const first = points[0]?.at ?? 0;
  const spanMs = Math.max(1, (points.at(-1)?.at ?? 0) - first + 1);
  const buckets = new Map<number, Point[]>();
  for (const point of points) {
    const bucket = Math.floor(((point.at - first) / spanMs) * count);
    const there = buckets.get(bucket);
    if (there === undefined) buckets.set(bucket, [point]);
    else there.push(point);
  }
  return [...buckets.values()];
}

type SeenStep = Pick<SimulationStep, 'at' | 'after'> & {
  readonly address: { readonly machine: MachineName };
};
type Facts = Pick<WorldFacts, 'policy' | 'slots' | 'spentBy'>;

/** Samples of a play while it goes on: slots at every change, spend at steps that are not too close. */
export class CurveRecorder {
  private readonly slots: CurvePoint[] = [];
  private cost: CurvePoint[] = [];
  private readonly conversations = new Set<ConversationId>();
  /** Between two samples of the spend at least; grows with the play, so that there are never too many. */
  private everyMs = 0;
  private readonly facts: Facts;

  constructor(facts: Facts, startAt: number) {
    this.facts = facts;
    this.slots.push({ at: startAt, value: 0 });
    this.cost.push({ at: startAt, value: 0 });
  }

  add({ at, address, after }: SeenStep): void {
    if (address.machine === 'conversation') this.note(after as ConversationState);
    const held = this.facts.slots.size;
    if (this.slots.at(-1)?.value !== held) {
      if (this.slots.at(-1)?.at === at) this.slots.pop();
      this.slots.push({ at, value: held });
    }
    if (at - (this.cost.at(-1)?.at ?? 0) > this.everyMs) this.sample(at);
  }

  /** The spend is that of the run: what others cost is no part of its summary either. */
  private note({ spec }: ConversationState): void {
    if (spec.runId !== null) this.conversations.add(spec.conversationId);
  }

  /** The curves up to now, epoch milliseconds. */
  read(now: number): Pick<Curves, 'slots' | 'slotsMax' | 'costNanoUsd'> {
    if (now > (this.cost.at(-1)?.at ?? 0)) this.sample(now);
    return {
      slots: boundedPeaks(this.slots),
      slotsMax: slotsMaxOf(this.facts.policy.capacity),
      costNanoUsd: withoutLevelEnd(this.cost),
    };
  }

  private sample(at: number): void {
    let value = 0;
    for (const id of this.conversations) value += this.facts.spentBy(id, at);
    this.cost.push({ at, value });
    if (this.cost.length <= CURVE_POINTS_MAX) return;
    this.cost = this.cost.filter((_, index) => index % 2 === 0 || index === this.cost.length - 1);
    this.everyMs = (2 * (at - (this.cost[0]?.at ?? at))) / CURVE_POINTS_MAX;
  }
}

/** After the last cent there is nothing to see: one point says that it stays so. */
function withoutLevelEnd(points: readonly CurvePoint[]): CurvePoint[] {
  const total = points.at(-1)?.value;
  const first = points.findIndex(({ value }) => value === total);
  return points.slice(0, first + 1);
}
