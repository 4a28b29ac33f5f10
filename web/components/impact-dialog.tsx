/**
 * Before a sandbox is paused or deleted: whom that would meet.
 * Owns the question; what it means and for which conversations is said by the API.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { useAnswer } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { useSession } from '../session/session.ts';
import { ConfirmDialog } from './dialog.tsx';
import { Badge } from './parts.tsx';

export interface ImpactDialogProps {
  readonly sandboxId: string;
  readonly kind: 'pause' | 'delete';
  onLeave(): void;
}

const TITLES = { pause: 'Stop this sandbox?', delete: 'Delete this sandbox?' } as const;
const WORDS = { pause: 'Stop sandbox', delete: 'Delete sandbox' } as const;

export function ImpactDialog({ sandboxId, kind, onLeave }: ImpactDialogProps): ReactElement {
  const { client } = useSession();
  const params = { sandbox_id: sandboxId };
  const { value: impact, problem } = useAnswer('getSandboxImpact', { params });
  return (
    <ConfirmDialog
      title={TITLES[kind]}
      word={WORDS[kind]}
      disabled={impact === null}
      work={() => (kind === 'pause' ? client.pauseSandbox({ params }) : client.deleteSandbox({ params }))}
      onLeave={onLeave}
    >
      <p>{impact === null ? (problem ?? 'Looking at what is in it …') : impact[kind]}</p>
      {impact === null ? null : <Attached impact={impact} />}
    </ConfirmDialog>
  );
}

function Attached({ impact }: { readonly impact: ResultOf<'get_sandbox_impact'> }): ReactElement {
  const { conversations } = impact;
  if (conversations.length === 0) return <p className="quiet">No conversation is attached to it.</p>;
  const count =
    conversations.length === 1 ? 'One conversation is' : `${conversations.length} conversations are`;
  return (
    <>
      <p>
        <strong>{count} attached to it:</strong>
      </p>
      <ul className="impact">
        {conversations.map((one) => (
          <li key={one.id}>
            <Link to={{ page: 'conversation', id: one.id }}>{one.title}</Link>
            {one.execution_status === null ? null : <Badge word={one.execution_status} />}
            {one.queued_messages === 0 ? null : <span className="quiet">{one.queued_messages} queued</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
