/**
 * Whether an agent goes in circles. Pure; looks only at the turns it is given: those since the last user message.
 */
import { observationText } from '../conversation/event.ts';
import type { StuckThresholds } from '../conversation/start-request.ts';
import type { ActionStep, Turn } from '../conversation/turns.ts';

/** A sentence that names the pattern, or null while the agent gets on. */
export function stuckPattern(turns: readonly Turn[], thresholds: StuckThresholds): string | null {
  const steps = turns.flatMap((turn) => (turn.kind === 'actions' ? turn.steps : []));
  const done = steps.filter((step) => step.result !== null);
  if (allEqual(lastOf(done, thresholds.action_observation).map(stepKey), thresholds.action_observation)) {
    return `The same action had the same result ${thresholds.action_observation} times`;
  }
  const tries = lastOf(done, thresholds.action_error);
  if (tries.every(isError) && allEqual(tries.map(actionKey), thresholds.action_error)) {
    return `The same action failed ${thresholds.action_error} times`;
  }
  if (alternates(lastOf(done, thresholds.alternating_pattern).map(stepKey), thresholds.alternating_pattern)) {
    return `Two actions alternated with the same results for ${thresholds.alternating_pattern} steps`;
  }
  const talk = lastOf(turns, thresholds.monologue);
  if (talk.length === thresholds.monologue && talk.every(isAgentMessage)) {
    return `The agent sent ${thresholds.monologue} messages in a row without acting`;
  }
  return null;
}

function lastOf<T>(items: readonly T[], count: number): readonly T[] {
  return items.slice(-count);
}

function allEqual(keys: readonly string[], count: number): boolean {
  return keys.length === count && keys.every((key) => key === keys[0]);
}

function alternates(keys: readonly string[], count: number): boolean {
  if (keys.length < count || keys[0] === keys[1]) return false;
  return keys.every((key, index) => key === keys[index % 2]);
}

function isAgentMessage(turn: Turn): boolean {
  return turn.kind === 'message' && turn.event.source === 'agent';
}

function isError(step: ActionStep): boolean {
  return step.result?.kind === 'AgentErrorEvent' || resultIsErrorObservation(step);
}

function resultIsErrorObservation(step: ActionStep): boolean {
  return step.result?.kind === 'ObservationEvent' && step.result.observation.is_error;
}

function actionKey(step: ActionStep): string {
  const { action, tool_name, tool_call } = step.action;
  return JSON.stringify([tool_name, action ?? tool_call.arguments]);
}

/** Ids, times and process numbers are left out: they differ even when nothing else does. */
function stepKey(step: ActionStep): string {
  return `${actionKey(step)}\n${resultKey(step)}`;
}

function resultKey(step: ActionStep): string {
  const { result } = step;
  if (result === null) return '';
  switch (result.kind) {
    case 'ObservationEvent':
      return `${result.observation.is_error}:${observationText(result.observation)}`;
    case 'UserRejectObservation':
      return `rejected:${result.rejection_reason}`;
    case 'AgentErrorEvent':
      return `error:${result.error}`;
    default:
      return result satisfies never;
  }
}
