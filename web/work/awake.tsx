/**
 * What stands before a workspace whose sandbox is not up: reading it brings the sandbox back (D7).
 * Owns the question to the user, so that opening a page does not resume a sandbox.
 */
import { type ReactElement, type ReactNode, useState } from 'react';
import { Button } from '../components/form.tsx';
import { Empty, Notice } from '../components/parts.tsx';
import type { ConversationRecord } from '../conversation/conversation-table.tsx';

export interface AwakeProps {
  readonly record: ConversationRecord;
  readonly children: ReactNode;
}

export function Awake({ record, children }: AwakeProps): ReactElement {
  const [isWanted, setIsWanted] = useState(false);
  const { sandbox_status: status, start_task_status: start, conversation_url: url } = record;
  if (start !== 'READY')
    return (
      <Empty>
        <p>
          {start === 'ERROR'
            ? 'The start has failed: there is no workspace.'
            : 'The conversation is starting.'}
        </p>
      </Empty>
    );
  if (status === 'MISSING' || status === 'ERROR')
    return <Notice tone="calm">The sandbox is gone, and its workspace with it.</Notice>;
  if (url !== null || isWanted) return <>{children}</>;
  return (
    <Empty>
      <p>The sandbox is paused. To look into its workspace resumes it.</p>
      <p>
        <Button onClick={() => setIsWanted(true)}>Resume and look</Button>
      </p>
    </Empty>
  );
}
