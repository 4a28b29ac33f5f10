/**
 * Samples of a play while it goes on: slots at every change, spend at steps that are not too close.
 * Owns the sampling and its bounds; looks at the world and never changes it.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { ConversationId, MachineName } from '../../core/ids.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { slotsMaxOf } from '../slots-max.ts';
import type { WorldFacts } from '../world-facts.ts';
import { boundedPeaks, CURVE_POINTS_MAX, type CurvePoint, type Curves } from './curves.ts';

type SeenStep = Pick<SimulationStep, 'at' | 'after'> & {
  readonly address: { readonly machine: MachineName };
};
/** What of the world is looked at. */
type Facts = Pick<WorldFacts, 'policy' | 'slots' | 'spentBy'>;

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
