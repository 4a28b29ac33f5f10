/**
 * How far a start is: its steps, the one that it is at, its place in the queue, and why it has failed.
 * Owns the order of the steps (D18), and the asking for a place in the queue.
 */
import { useCallback, type ReactElement } from 'react';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import { labelOf } from '../text/words.ts';
import type { ConversationRecord } from '../conversation/conversation-table.tsx';

const STEPS = [
  'WORKING',
  'WAITING_FOR_SANDBOX',
  'PREPARING_REPOSITORY',
  'RUNNING_SETUP_SCRIPT',
  'SETTING_UP_GIT_HOOKS',
  'SETTING_UP_SKILLS',
  'STARTING_CONVERSATION',
  'READY',
] as const;

export function StartSteps({ record }: { readonly record: ConversationRecord }): ReactElement {
  const { start_task_status: status, start_task_detail: detail } = record;
  if (status === 'ERROR') return <span className="below">{detail ?? 'no reason was given'}</span>;
  const at = STEPS.findIndex((step) => step === status);
  return (
    <>
      {status === 'WORKING' ? <StartPosition id={record.id} /> : null}
      <ol className="start-steps" aria-label="Steps of the start">
        {STEPS.map((step, index) => (
          <li
            key={step}
            className={index < at ? 'step-done' : ''}
            aria-current={index === at ? 'step' : undefined}
          >
            {labelOf(step)}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Nothing where it does not wait. */
function StartPosition({ id }: { readonly id: string }): ReactElement | null {
  const { client } = useSession();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const { items } = await client.searchStartTasks(
        { query: { conversation_id__eq: id, limit: 1 } },
        { signal },
      );
      return { position: items[0]?.queue_position ?? null };
    },
    [client, id],
  );
  const position = usePolled(ask).value?.position ?? null;
  return position === null ? null : (
    <span className="below">waits for a sandbox, number {position} in the queue</span>
  );
}
