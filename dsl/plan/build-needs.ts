/**
 * `needs` of a conversation as the plan has them.
 * Owns their built-in defaults.
 */
import type { PlanNeed } from '../../core/plan/plan.ts';
import type { NeedsDocument } from '../schema/needs-schema.ts';

export function buildNeeds(needs: NeedsDocument): readonly PlanNeed[] {
  return needs.map(({ entry, outcome = 'succeeded', each = false }) => ({ entry, outcome, each }));
}
