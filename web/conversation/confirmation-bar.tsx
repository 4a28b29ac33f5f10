/**
 * An agent that waits for a yes or no, with the whole of what it asks about.
 * Owns the answer of the user.
 */
import { type ReactElement, useMemo, useState } from 'react';
import type { StreamedEvent } from '../../api/client/client.ts';
import { Button } from '../components/form.tsx';
import { Problems } from '../components/parts.tsx';
import { useAction } from '../data/use-action.ts';
import { useSession } from '../session/session.ts';
import { ActionDetail } from './action-detail.tsx';
import type { ChangingProps } from './conversation-table.tsx';
import { pendingActions } from './pending-actions.ts';

interface ConfirmationBarProps extends ChangingProps {
  readonly events: readonly StreamedEvent[];
}

export function ConfirmationBar({ record, events, onChange }: ConfirmationBarProps): ReactElement | null {
  const { client } = useSession();
  const [reason, setReason] = useState('');
  const action = useAction(onChange);
  const isAsked = record.execution_status?.toUpperCase() === 'WAITING_FOR_CONFIRMATION';
  const pending = useMemo(() => (isAsked ? pendingActions(events) : []), [isAsked, events]);
  if (!isAsked) return null;
  const answer = (accept: boolean): void => {
    void action.run(async () => {
      const body = reason.trim() === '' ? { accept } : { accept, reason: reason.trim() };
      await client.answerConfirmation({ params: { conversation_id: record.id }, body });
      setReason('');
    });
  };
  return (
    <section className="confirmation card" aria-label="Confirmation">
      <h2>The agent asks before it acts</h2>
      <ul>
        {pending.map(({ id, tool, summary, risk, event }) => (
          <li key={id}>
            <p>
              <code>{tool}</code> <span>{summary}</span>{' '}
              <span className="tag">risk: {risk.toLowerCase()}</span>
            </p>
            <ActionDetail event={event} />
          </li>
        ))}
      </ul>
      <input
        aria-label="Reason, if you reject"
        placeholder="Reason, if you reject"
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      <div className="dialog-actions">
        <Button busy={action.isBusy} onClick={() => answer(false)}>
          Reject
        </Button>
        <Button kind="primary" busy={action.isBusy} onClick={() => answer(true)}>
          Approve
        </Button>
      </div>
      <Problems of={action.problems} />
    </section>
  );
}
