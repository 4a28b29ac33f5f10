/**
 * A part of a case: what shrinking leaves of it.
 * Owns how a case is cut down; what is left keeps its numbers, so that requests and chances stay what they were.
 */
import type { Plan } from '../../core/plan/plan.ts';
import type { CampaignCase } from './random-case.ts';
import type { TimedAction } from './random-actions.ts';

/** An absent field keeps everything. */
export interface CaseSubset {
  /** Indices of the people's actions that are kept. */
  readonly actions?: readonly number[];
  /** By index of the action that begins a run: the items of its plan that are kept. */
  readonly items?: Readonly<Record<number, readonly number[]>>;
  /** Indices of the reactions that are kept. */
  readonly reactions?: readonly number[];
  /** Indices of what happens to hosts that is kept. */
  readonly incidents?: readonly number[];
  /** Exactly these faults strike, as `fault@where`; absent: by chance and aim. */
  readonly faults?: readonly string[];
  /** Milliseconds in which faults strike. */
  readonly safetyMs?: number;
  /** Milliseconds of the time after that. */
  readonly healingMs?: number;
}

export function incidentsIn({ incidents }: CampaignCase, keep: CaseSubset): CampaignCase['incidents'] {
  const kept = keep.incidents === undefined ? null : new Set(keep.incidents);
  return incidents.filter((_, number) => kept?.has(number) ?? true);
}

interface NumberedAction extends TimedAction {
  readonly number: number;
}

export function actionsIn({ actions }: CampaignCase, keep: CaseSubset): readonly NumberedAction[] {
  const kept = keep.actions === undefined ? null : new Set(keep.actions);
  return actions
    .map((one, number) => ({ ...one, action: cutItems(one.action, keep.items?.[number]), number }))
    .filter(({ number }) => kept === null || kept.has(number));
}

function cutItems(action: TimedAction['action'], kept: readonly number[] | undefined): TimedAction['action'] {
  if (action.do !== 'run' || kept === undefined) return action;
  const plan: Plan = {
    ...action.plan,
    items: kept.flatMap((at, index) => {
      const item = action.plan.items[at];
      return item === undefined ? [] : [{ ...item, index }];
    }),
  };
  return { ...action, plan };
}
