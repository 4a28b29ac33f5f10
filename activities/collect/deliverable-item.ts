/** What is delivered: the work of one conversation of a run, as its plan has it. */
import type { ConversationId, RunId } from '../../core/ids.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';

export interface DeliverableItem {
  readonly runId: RunId;
  readonly conversationId: ConversationId;
  readonly plan: Plan;
  readonly item: PlanItem;
}
