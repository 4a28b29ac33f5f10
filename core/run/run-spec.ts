/**
 * What a run takes from its plan: its rules, its items, and which of them wait for which.
 * Owns the translation; texts and secrets stay in the plan. Must not own a transition.
 */
import { sandboxId as asSandboxId, type EntityAddress, type RunId, type UserId } from '../ids.ts';
import { hostPin } from '../placement/choose-host.ts';
import type { Plan, PlanItem, PlanKeyedLimit, PlanNeed, PlanOrder } from '../plan/plan.ts';
import { SHARD_ITEMS_MAX, shardAddress } from './shards.ts';
import type { GroupingStrategy } from '../status.ts';
import type { RunCapacity, RunRules } from './rules.ts';
import type { ItemNeed, RunSpec, RunItemSpec, SlotUse } from './state.ts';

interface RunSpecContext {
  readonly runId: RunId;
  readonly userId: UserId;
  /** Of the deployment that begins the run; absent where it is not known. */
  readonly setting?: RunSetting;
}

/** What a run takes over from its deployment when it begins, and keeps (D29). */
export interface RunSetting {
  /** Where the job names no strategy. */
  readonly grouping: GroupingStrategy;
  readonly capacity: RunCapacity;
}

/** What a deployment, or a simulated policy, gives its runs. */
export function runSetting({
  grouping,
  capacity,
}: {
  readonly grouping: GroupingStrategy;
  readonly capacity: {
    readonly installationMax: number;
    readonly userMax: number;
    readonly conversationsPerSandboxMax: number;
  };
}): RunSetting {
  const { installationMax, userMax, conversationsPerSandboxMax: perSandboxMax } = capacity;
  return { grouping, capacity: { slotsMax: Math.min(installationMax, userMax), perSandboxMax } };
}

/** The machine's share of a plan. `shardItems`: items of a shard; without it only a large plan has shards. */
export function runSpec(
  plan: Plan,
  { runId, userId, setting }: RunSpecContext,
  shardItems = shardItemsOf(plan.items),
): RunSpec {
  const groups = groupsOf(plan.items);
  const rules = rulesOf(plan, setting);
  return {
    runId,
    userId,
    name: plan.name,
    planHash: plan.hash,
    rules: shardItems === undefined ? rules : { ...rules, shardItems, shardsRest: true },
    items: plan.items.map((item) => itemSpec(item, { plan, groups })),
  };
}

/** The machine that leads an item of a run that was begun with these: the run itself, or a shard of it. */
export function leaderOf(items: MayGrow, runId: RunId, index: number): EntityAddress {
  const shardItems = shardItemsOf(items);
  return shardItems === undefined
    ? { machine: 'run', id: runId }
    : shardAddress(runId, Math.floor(index / shardItems));
}

type MayGrow = readonly Pick<PlanItem, 'awaits'>[];

function shardItemsOf(items: MayGrow): number | undefined {
  // It is unknown how many items will take the place of one that awaits its rows.
  const mayGrow = items.some(({ awaits }) => awaits !== undefined);
  return items.length > SHARD_ITEMS_MAX || mayGrow ? SHARD_ITEMS_MAX : undefined;
}

function rulesOf(plan: Plan, setting: RunSetting | undefined): RunRules {
  const { admission, placement, retry, breaker, budget, wait, cleanup, reconcile } = plan;
  const { per = [], concurrency, startEveryMs, rampMs, adaptive, canary } = admission;
  const { sandboxId, pool } = placement;
  const poolHost = pool === undefined ? undefined : hostPin(placement);
  const strategy = placement.strategy ?? setting?.grouping;
  const isOfUser = placement.strategy === null && pool === undefined && strategy !== undefined;
  return {
    concurrency,
    ...(startEveryMs === undefined ? {} : { startEveryMs }),
    ...(rampMs === undefined ? {} : { rampMs }),
    ...(adaptive === undefined ? {} : { adaptive }),
    ...(per.length === 0 ? {} : { slots: Object.fromEntries(per.map((one) => [slotName(one), one.max])) }),
    ...(canary === undefined ? {} : { canary }),
    // Where the user's setting is unknown, sandboxes count as shared.
    sharesSandboxes: sandboxId !== null || pool !== undefined || strategy !== 'NO_GROUPING',
    ...(isOfUser ? { strategy } : {}),
    ...(setting === undefined ? {} : { capacity: setting.capacity }),
    ...(pool === undefined ? {} : { pool }),
    ...(poolHost === undefined ? {} : { poolHost }),
    explicitSandboxId: sandboxId === null ? null : asSandboxId(sandboxId),
    retry,
    breaker,
    budget,
    wait,
    cleanup,
    settleMs: reconcile?.settleMs ?? null,
    ...(plan.finally === undefined ? {} : { finally: plan.finally.map(({ timeoutMs }) => ({ timeoutMs })) }),
  };
}

function itemSpec(item: PlanItem, { plan, groups }: { plan: Plan; groups: Groups }): RunItemSpec {
  const slots = (plan.admission.per ?? []).flatMap((limit) => slotUse(item, limit));
  const member = groups.of.get(item.index);
  return {
    key: item.key,
    priority: priorityOf(item, plan.admission.order),
    hasVerify: item.verify !== null || item.scores !== undefined,
    workingMs: item.limits.workingMs,
    ...(item.whole === undefined ? {} : { whole: item.whole }),
    ...(slots.length === 0 ? {} : { slots }),
    ...(member === undefined ? {} : { groups: member }),
    ...ownRules(item),
    ...(item.needs === undefined ? {} : { needs: item.needs.map((need) => groups.needOf(item, need)) }),
  };
}

function ownRules({ retry, wait }: PlanItem): Pick<RunItemSpec, 'own'> {
  if (retry === undefined && wait === undefined) return {};
  return {
    own: { ...(retry === undefined ? {} : { retry }), ...(wait === undefined ? {} : { wait }) },
  };
}

/** As the job spells it: `repo`, `model.strong`, `tags.owner`. */
export function slotName({ field, name, value }: PlanKeyedLimit): string {
  return [field, ...(name === null ? [] : [name]), ...(value === null ? [] : [value])].join('.');
}

/** An item without a value takes no place. */
function slotUse(item: PlanItem, limit: PlanKeyedLimit): readonly SlotUse[] {
  const value = fieldOf(item, limit);
  if (value === null || (limit.value !== null && limit.value !== value)) return [];
  return [{ slot: slotName(limit), value }];
}

function fieldOf(item: PlanItem, { field, name }: PlanKeyedLimit): string | null {
  switch (field) {
    case 'repo':
      return item.repository?.name ?? null;
    case 'model':
      return item.model;
    case 'entry':
      return item.entry;
    case 'tags':
      return item.tags[name ?? ''] ?? null;
    case 'matrix':
      return item.matrix[name ?? ''] ?? null;
  }
}

/** The machine has one order, by priority: another one becomes a priority of its own. */
function priorityOf(item: PlanItem, order: PlanOrder | undefined): number {
  if (order === undefined) return item.priority;
  return order.by === 'position' ? 0 : shuffled(order.seed, item.index);
}

/** A mix of seed and position (the finalizer of MurmurHash3): every seed gives another order, and always the same one. */
function shuffled(seed: number, index: number): number {
  let mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

interface Groups {
  /** Groups by position of an item. */
  readonly of: ReadonlyMap<number, readonly number[]>;
  needOf(item: PlanItem, need: PlanNeed): ItemNeed;
}

/** One group for all that wait for the same items, however many they are. */
function groupsOf(items: readonly PlanItem[]): Groups {
  const numbers = new Map<string, number>();
  const members = new Map<number, number[]>();
  const byEntry = new Map<string, PlanItem[]>();
  for (const item of items) {
    const entry = byEntry.get(item.entry);
    if (entry === undefined) byEntry.set(item.entry, [item]);
    else entry.push(item);
  }
  const numberOf = (item: PlanItem, need: PlanNeed): number => {
    const needed = byEntry.get(need.entry) ?? [];
    const axes = need.each ? sharedAxes(item, needed[0]) : [];
    const name = JSON.stringify([need.entry, ...axes.map((axis) => [axis, item.matrix[axis]])]);
    const known = numbers.get(name);
    if (known !== undefined) return known;
    const number = numbers.size;
    numbers.set(name, number);
    for (const one of needed) {
      if (axes.some((axis) => one.matrix[axis] !== item.matrix[axis])) continue;
      members.set(one.index, [...(members.get(one.index) ?? []), number]);
    }
    return number;
  };
  // All first: the members of a group are complete only when all waiting items have been seen.
  for (const item of items) for (const need of item.needs ?? []) numberOf(item, need);
  return {
    of: members,
    needOf: (item, need) => ({ group: numberOf(item, need), outcome: need.outcome, entry: need.entry }),
  };
}

function sharedAxes(item: PlanItem, other: PlanItem | undefined): readonly string[] {
  return Object.keys(item.matrix).filter((axis) => other !== undefined && axis in other.matrix);
}
