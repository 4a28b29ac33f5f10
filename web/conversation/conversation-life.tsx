/**
 * What a person must know about a conversation before reading on.
 * Owns the order: what failed comes first, with its reason.
 */
import type { ReactElement } from 'react';
import type { StreamedEvent } from '../../api/client/client.ts';
import { Notice } from '../components/parts.tsx';
import type { ConversationRecord } from './conversation-table.tsx';
import { failureText } from './event-text.ts';

export interface ConversationLifeProps {
  readonly record: ConversationRecord;
  readonly events: readonly StreamedEvent[];
  readonly problem: string | null;
}

export function ConversationLife({ record, events, problem }: ConversationLifeProps): ReactElement | null {
  if (problem !== null) return <Notice tone="bad">{problem}</Notice>;
  const { sandbox_status: status, start_task_status: start } = record;
  if (start === 'ERROR')
    return (
      <Notice tone="bad">The start has failed: {record.start_task_detail ?? 'no reason was given'}</Notice>
    );
  const failure = failureText(record.execution_status, events);
  const isGone = status === 'MISSING' || status === 'ERROR';
  if (failure !== null || isGone)
    return (
      <>
        {failure === null ? null : <Notice tone="bad">The agent has failed: {failure}</Notice>}
        {isGone ? (
          <Notice tone="calm">
            Read-only: the sandbox of this conversation is gone, and its transcript is kept.
          </Notice>
        ) : null}
      </>
    );
  if (record.transition === 'resuming') return <Notice tone="wait">The sandbox is resuming.</Notice>;
  if (record.stale)
    return (
      <Notice tone="wait">The runtime cannot be asked at the moment; this is the last known state.</Notice>
    );
  return null;
}
