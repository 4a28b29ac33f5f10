/**
 * Actions that have no observation yet: what a waiting agent asks about.
 * Owns the reading of the transcript's end; pure.
 */
import type { StreamedEvent } from '../../api/client/client.ts';
import { textField, type TranscriptEvent } from './event-text.ts';

export interface PendingAction {
  readonly id: string;
  readonly tool: string;
  readonly summary: string;
  readonly risk: string;
  /** All of it: what is approved is seen whole. */
  readonly event: TranscriptEvent;
}

export function pendingActions(events: readonly StreamedEvent[]): readonly PendingAction[] {
  const answered = new Set(
    events.flatMap(({ event }) => [
      event['action_id'],
      event['kind'] === 'ActionEvent' ? null : event['tool_call_id'],
    ]),
  );
  return events
    .map(({ event }) => event)
    .filter(
      ({ kind, id, tool_call_id: call }) =>
        kind === 'ActionEvent' && !answered.has(id) && !answered.has(call),
    )
    .map((event) => ({
      id: event.id,
      tool: textField(event, 'tool_name') || 'tool',
      summary: textField(event, 'summary'),
      risk: textField(event, 'security_risk') || 'UNKNOWN',
      event,
    }));
}
