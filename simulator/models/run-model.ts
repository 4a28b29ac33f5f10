/**
 * What a run orders: start requests made of plan items, checks, collections, reconciliation, the report.
 * Owns the plans and what collections have reported; must not decide how an item ends.
 */
import type { CommandOf, MachineEvent } from '../../core/machine/command.ts';
import type { ConversationSpec } from '../../core/conversation/state.ts';
import { sandboxId, userId, type ConversationId, type RunId } from '../../core/ids.ts';
import { collectOf, readsWorkspace, waitOf } from '../../core/plan/item-rules.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import { POOL_STRATEGY_DEFAULT, poolPlacement } from '../../core/placement/pool-placement.ts';
import type { LostSandbox } from '../../core/run/items/lost-sandbox.ts';
import { amendedPlanId } from '../../core/run/amend/amended-plan-id.ts';
import type { GroupingStrategy } from '../../core/status.ts';
import { conversationIdOf } from './derived-id.ts';

/** Owner of everything in a simulated run. */
export const SIMULATED_USER = userId('local');

/** Agent iterations when nothing sets a limit. */
export const ITERATIONS_DEFAULT = 500;

export class RunModel {
  /** Integer nano-USD that collections have reported, all runs together. */
  toldNanoUsd = 0;
  private readonly plans = new Map<RunId, Plan>();
  private readonly grouping: GroupingStrategy;
  private readonly told = new Map<RunId, number>();
  private readonly toldOf = new Map<string, number>();
  private readonly runOf = new Map<ConversationId, RunId>();

  constructor(grouping: GroupingStrategy) {
    this.grouping = grouping;
  }

  addPlan(runId: RunId, plan: Plan): void {
    this.plans.set(runId, plan);
  }

  /** As it was begun, or as it was amended to that hash; null when there is none of it. */
  planOf(runId: RunId, planHash: string): Plan | null {
    const first = this.plans.get(runId);
    if (first?.hash === planHash) return first;
    return this.plans.get(amendedPlanId(runId, planHash)) ?? null;
  }

  specOf(command: CommandOf<'startConversation'>): ConversationSpec | null {
    const { runId, index, attempt, strategy } = command;
    const planned = this.planned(command);
    if (planned === null) return null;
    const { plan, item } = planned;
    const conversationId = conversationIdOf(runId, item.key, attempt);
    this.runOf.set(conversationId, runId);
    const explicit = plan.placement.sandboxId;
    const pool = poolPlacement(plan, item, runId);
    return {
      conversationId,
      userId: SIMULATED_USER,
      runId,
      key: item.key,
      itemIndex: index,
      title: `${plan.name}: ${item.key}`,
      repository: item.repository?.name ?? null,
      codeHost: item.repository?.host ?? null,
      branch: item.repository?.branch ?? null,
      model: item.model,
      tags: item.tags,
      strategy:
        plan.placement.strategy ?? (pool === null ? (strategy ?? this.grouping) : POOL_STRATEGY_DEFAULT),
      sandboxId: explicit === null ? null : sandboxId(explicit),
      initialMessage: { messageId: initialMessageOf(conversationId), text: item.prompt, run: true },
      iterationsMax: item.limits.turns ?? ITERATIONS_DEFAULT,
      confirmation: 'never',
      nanoUsdMax: item.limits.nanoUsd,
      noProgressMs: waitOf(item, plan).noProgressMs,
      ...(pool === null ? {} : { pool }),
    };
  }

  isOf(runId: RunId, id: ConversationId): boolean {
    return this.runOf.get(id) === runId;
  }

  /** A repeated collection replaces the figure and does not add to it: the newest counts. */
  collected(command: CommandOf<'collectItem'>, costNanoUsd: number, found: LostSandbox | null): MachineEvent {
    const { id: commandId, runId, index, attempt } = command;
    const item = `${runId}/${index}/${attempt}`;
    const addedNanoUsd = costNanoUsd - (this.toldOf.get(item) ?? 0);
    this.toldOf.set(item, costNanoUsd);
    this.toldNanoUsd += addedNanoUsd;
    this.told.set(runId, (this.told.get(runId) ?? 0) + addedNanoUsd);
    const planned = this.planned(command);
    const isMissed = planned !== null && collectOf(planned.item, planned.plan).some(readsWorkspace);
    const lost = found !== null && isMissed ? { lost: found } : {};
    return { type: 'itemCollected', commandId, index, costNanoUsd, ...lost };
  }

  /** An item with the plan of its attempt; null when that has none of it. */
  private planned(
    command: CommandOf<'startConversation' | 'collectItem'>,
  ): { readonly plan: Plan; readonly item: PlanItem } | null {
    const { runId, index, plan: hash } = command;
    const plan = this.plans.get(hash === undefined ? runId : amendedPlanId(runId, hash));
    const item = plan?.items[index];
    return plan === undefined || item === undefined ? null : { plan, item };
  }

  /** Every row finds its conversation: what is uncertain about money is not simulated. */
  reconciled({ id: commandId, runId }: CommandOf<'reconcileRun'>): MachineEvent {
    const totalNanoUsd = this.told.get(runId) ?? 0;
    const summary = {
      rows: this.plans.get(runId)?.items.length ?? 0,
      totalNanoUsd,
      assignedNanoUsd: totalNanoUsd,
      ambiguousNanoUsd: 0,
      unassignedNanoUsd: 0,
      withinTolerance: null,
    };
    return { type: 'runReconciled', commandId, summary };
  }
}

function initialMessageOf(id: ConversationId): string {
  return `${id}/initial`;
}
