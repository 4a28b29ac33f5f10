/**
 * The event log seen as turns: a message, or the actions of one model answer with their results.
 * Pure. Prompt, trimming and stuck detection all read turns, so that a tool call and its result are never apart.
 */
import type {
  ActionEvent,
  AgentErrorEvent,
  ConversationEvent,
  MessageEvent,
  ObservationEvent,
  UserRejectObservation,
} from './event.ts';

export type ActionResult = ObservationEvent | UserRejectObservation | AgentErrorEvent;

export interface ActionStep {
  readonly action: ActionEvent;
  /** Null while the action waits or runs. */
  readonly result: ActionResult | null;
}

export interface MessageTurn {
  readonly kind: 'message';
  readonly event: MessageEvent;
}
export interface ActionTurn {
  readonly kind: 'actions';
  readonly steps: readonly ActionStep[];
}
export type Turn = MessageTurn | ActionTurn;

/** The turns of a log in order. A result goes to its action wherever it stands in the log. */
export function turnsOf(events: readonly ConversationEvent[]): Turn[] {
  const results = resultsByAction(events);
  const turns: Turn[] = [];
  let open = null as { readonly responseId: string; readonly steps: ActionStep[] } | null;
  for (const event of events) {
    // All actions of an answer are logged before anything else, so whatever else comes ends the group; the response
    // id alone would not do, since some endpoints repeat ids.
    if (event.kind !== 'ActionEvent' && event.kind !== 'ConversationStateUpdateEvent') open = null;
    if (event.kind === 'MessageEvent') {
      turns.push({ kind: 'message', event });
    } else if (event.kind === 'ActionEvent') {
      const step: ActionStep = { action: event, result: results.get(event.id) ?? null };
      if (open?.responseId === event.llm_response_id) {
        open.steps.push(step);
      } else {
        open = { responseId: event.llm_response_id, steps: [step] };
        turns.push({ kind: 'actions', steps: open.steps });
      }
    }
  }
  return turns;
}

/** Actions that have no result yet, in order. */
export function pendingActions(events: readonly ConversationEvent[]): ActionEvent[] {
  const results = resultsByAction(events);
  return events.flatMap((event) => (event.kind === 'ActionEvent' && !results.has(event.id) ? [event] : []));
}

function resultsByAction(events: readonly ConversationEvent[]): Map<string, ActionResult> {
  const results = new Map<string, ActionResult>();
  const actionByCall = new Map<string, string>();
  for (const event of events) {
    if (event.kind === 'ActionEvent') actionByCall.set(event.tool_call_id, event.id);
    if (event.kind === 'ObservationEvent' || event.kind === 'UserRejectObservation') {
      results.set(event.action_id, event);
    }
    // Errors name no action on the wire; tool call ids are unique within a conversation.
    if (event.kind === 'AgentErrorEvent') {
      const actionId = actionByCall.get(event.tool_call_id);
      if (actionId !== undefined && !results.has(actionId)) results.set(actionId, event);
    }
  }
  return results;
}
