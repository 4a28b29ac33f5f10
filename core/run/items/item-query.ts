/**
 * Which items of a run a list shows, and in which order.
 * Owns filter and order; pure. An item without a figure stands below every item that has one.
 */
import type { PlanItem } from '../../plan/plan.ts';
import type { RunItemRow } from '../../machine/projection.ts';

/** What stays equal while an item is run: from the plan; absent where the plan does not have it any more. */
export type ItemFacts = Pick<PlanItem, 'model' | 'repository' | 'tags'>;

/** An item with its place in the plan. */
export interface QueriedItem {
  readonly row: RunItemRow;
  /** In the order of the plan, from 0. */
  readonly position: number;
  readonly facts: ItemFacts | null;
}

/** Every field narrows. */
export interface ItemFilter {
  /** Of one of these outcomes; an item that has not ended has its phase in place of one. */
  readonly states?: readonly string[];
  readonly model?: string;
  /** `owner/name`. */
  readonly repository?: string;
  /** All of them. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Anywhere in the key, in either case. */
  readonly keyContains?: string;
}

/** By what a list of items can be sorted. */
export const ITEM_ORDERS = ['POSITION', 'COST', 'TIME', 'OUTCOME', 'MODEL', 'REPOSITORY', 'KEY'] as const;
export type ItemOrder = (typeof ITEM_ORDERS)[number];

export interface ItemPage {
  readonly order: ItemOrder;
  readonly descending: boolean;
  /** Begin behind the item of this value and key. */
  readonly after: { readonly value: string | number; readonly id: string } | null;
  readonly limit: number;
}

/** At most `limit`. `now`: an item that has not ended has taken until then. */
export function queryItems(
  items: readonly QueriedItem[],
  filter: ItemFilter,
  { order, descending, after, limit }: ItemPage,
  now: number,
): readonly QueriedItem[] {
  const sign = descending ? -1 : 1;
  const compare = (a: Placed, b: Placed): number => sign * (compared(a.value, b.value) || text(a.id, b.id));
  const placed = items
    .filter((item) => fits(item, filter))
    .map((item) => ({ item, value: orderValue(item, order, now), id: item.row.key }))
    .sort(compare);
  const rest = after === null ? placed : placed.filter((one) => compare(one, after) > 0);
  return rest.slice(0, limit).map(({ item }) => item);
}

interface Placed {
  readonly value: string | number;
  readonly id: string;
}

/** What an item is ordered by; the value of the cursor behind it. */
export function orderValue(
  { row, position, facts }: QueriedItem,
  order: ItemOrder,
  now: number,
): string | number {
  switch (order) {
    case 'POSITION':
      return position;
    case 'COST':
      return row.costNanoUsd ?? NO_FIGURE;
    case 'TIME':
      return row.admittedAt === null ? NO_FIGURE : (row.endedAt ?? now) - row.admittedAt;
    case 'OUTCOME':
      return stateOf(row);
    case 'MODEL':
      return facts?.model ?? '';
    case 'REPOSITORY':
      return facts?.repository?.name ?? '';
    case 'KEY':
      return row.key;
  }
}

/** Costs and times are not negative. */
const NO_FIGURE = -1;

function fits({ row, facts }: QueriedItem, filter: ItemFilter): boolean {
  const { states, model, repository, tags = {}, keyContains } = filter;
  return (
    (states === undefined || states.includes(stateOf(row))) &&
    (model === undefined || facts?.model === model) &&
    (repository === undefined || facts?.repository?.name === repository) &&
    Object.entries(tags).every(([name, value]) => facts !== null && tagOf(facts, name) === value) &&
    (keyContains === undefined || row.key.toLowerCase().includes(keyContains.toLowerCase()))
  );
}

function tagOf({ tags }: ItemFacts, name: string): string | undefined {
  return Object.hasOwn(tags, name) ? tags[name] : undefined;
}

function stateOf({ outcome, phase }: RunItemRow): string {
  return outcome ?? phase;
}

function compared(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return text(String(a), String(b));
}

/** By code units: the same on every machine. */
function text(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
