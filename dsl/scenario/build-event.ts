/**
 * One event of a scenario file as the action it is.
 * Owns the conversion; that there is one action with one target was checked.
 */
import { lengthMs } from './figures.ts';
import type { ScenarioAction, ScenarioEvent, ScenarioSpan, ScenarioTarget } from './scenario.ts';
import type { EventDocument } from './scenario-schema.ts';

/** Null for an event without an action or target: that was said. */
export function buildEvent(event: EventDocument, span: ScenarioSpan): ScenarioEvent | null {
  const action = actionOf(event);
  return action === null ? null : { atMs: lengthMs(event.at), action, span };
}

function actionOf(event: EventDocument): ScenarioAction | null {
  const { sandbox, conversation, message, gateway, run, concurrency } = event;
  const target = targetOf(event);
  if (gateway !== undefined) return { do: 'gateway', status: gateway.status, forMs: lengthMs(gateway.for) };
  if (run !== undefined) return { do: run === 'cancel' ? 'cancel_run' : 'drain_run' };
  if (concurrency !== undefined) return { do: 'concurrency', value: concurrency };
  if (target === null) return null;
  if (message !== undefined) return { do: 'message', conversation: target, text: message.text };
  if (conversation !== undefined) return { do: conversation, conversation: target };
  return sandbox === undefined ? null : { do: sandbox, sandbox: target };
}

function targetOf({ key, message, pick }: EventDocument): ScenarioTarget | null {
  const named = key ?? message?.to;
  if (named !== undefined) return { key: named };
  return pick === undefined ? null : { pick };
}
