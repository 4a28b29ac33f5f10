/**
 * What became of every conversation of a run: stretches of time, and the limits it met.
 * Owns the reading of steps; must not influence them.
 */
import { isReleaseReason } from '../core/status.ts';
import type { ConversationState } from '../core/conversation/state.ts';
import { itemsByPhase } from '../core/run/items-by-phase.ts';
import { changedPositions } from '../core/run/amend/changed-positions.ts';
import { indexAt, type RunItem, type RunState } from '../core/run/state.ts';
import type { SandboxState } from '../core/sandbox/state.ts';
import type { SimulationStep } from './simulation-options.ts';

export type Activity = 'queued' | 'starting' | 'working' | 'paused' | 'ended';
/** What a conversation met on its way, in the words of the report. */
export type LimitMet = 'idle_pause' | 'session_cap' | 'capacity' | 'budget' | 'user_pause';

/** From an instant until the next stretch begins; epoch milliseconds. */
export interface Stretch {
  readonly from: number;
  readonly as: Activity;
}

interface ItemTimeline {
  readonly key: string;
  readonly stretches: Stretch[];
  readonly met: Set<LimitMet>;
}

const PAUSES = {
  idle: 'idle_pause',
  session_limit: 'session_cap',
  capacity: 'capacity',
  user: 'user_pause',
} as const;

export class PlanTimeline {
  readonly items: ItemTimeline[] = [];
  private readonly indexOf = new Map<string, number>();

  add({ address, at, before, after, event }: SimulationStep): void {
    switch (address.machine) {
      case 'run':
      case 'shard':
        return this.readRun(at, before as RunState | null, after as RunState);
      case 'sandbox':
        return this.readSandbox(before as SandboxState | null, after as SandboxState);
      case 'conversation': {
        const state = after as ConversationState;
        if (event.type === 'placementWaits') this.meet(address.id, 'capacity');
        if (event.type === 'resumeAnswered' && event.refusal === 'concurrency_limit_reached')
          this.meet(address.id, 'capacity');
        if (state.limitReached === 'usd') this.meet(address.id, 'budget');
        if (state.spec.itemIndex !== null) this.indexOf.set(address.id, state.spec.itemIndex);
      }
    }
  }

  private readRun(at: number, before: RunState | null, after: RunState): void {
    // Where items live in shards, those report more than the run keeps of them.
    if (before === null || after.shards === undefined)
      for (const position of changedPositions(before?.items ?? [], after.items))
        this.readItem(at, indexAt(after, position), after.items[position] as RunItem);
    if (after.reason !== 'budget' || before?.reason === 'budget') return;
    for (const index of itemsByPhase(after).waiting) this.items[index]?.met.add('budget');
  }

  private readItem(at: number, index: number, item: RunItem): void {
    const timeline = (this.items[index] ??= { key: item.key, stretches: [], met: new Set() });
    const as = activityOf(item);
    const { stretches } = timeline;
    if (stretches.at(-1)?.as === as) return;
    // An item that never came was not queued either.
    if ((stretches.at(-1)?.from ?? 0) > at) stretches.pop();
    stretches.push({ from: item.attempt === 0 ? Math.max(at, item.notBefore ?? at) : at, as });
  }

  private readSandbox(before: SandboxState | null, after: SandboxState): void {
    const { pauseReason, attached } = after;
    if (pauseReason === null || pauseReason === before?.pauseReason || !isReleaseReason(pauseReason)) return;
    for (const id of Object.keys(attached)) this.meet(id, PAUSES[pauseReason]);
  }

  /** After its end a conversation meets nothing that matters to the job. */
  private meet(conversationId: string, limit: LimitMet): void {
    const timeline = this.items[this.indexOf.get(conversationId) ?? -1];
    if (timeline !== undefined && timeline.stretches.at(-1)?.as !== 'ended') timeline.met.add(limit);
  }
}

function activityOf({ phase, sandboxStatus, waitsFor }: RunItem): Activity {
  switch (phase) {
    case 'waiting':
      return 'queued';
    case 'starting':
      return waitsFor === undefined ? 'starting' : 'queued';
    case 'ended':
      return 'ended';
    case 'working':
    case 'verifying':
    case 'collecting':
      return sandboxStatus === 'PAUSED' ? 'paused' : 'working';
  }
}
