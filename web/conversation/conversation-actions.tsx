/**
 * What can be done to a conversation: interrupt its agent, stop or resume its sandbox, take the trajectory, give it
 * another title and tags, delete it.
 * Owns which of these fits its state; a sandbox that others share is stopped only after a look at them.
 */
import { useState, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { ImpactDialog } from '../components/impact-dialog.tsx';
import { Problems } from '../components/notice.tsx';
import { useAction } from '../data/use-action.ts';
import { goTo } from '../routing/use-place.ts';
import { useSession } from '../session/session.ts';
import type { ConversationRecord } from './conversation-table.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { saveFile } from './save-file.ts';

const AT_WORK = new Set(['RUNNING', 'WAITING_FOR_CONFIRMATION']);

export interface ConversationActionsProps {
  readonly record: ConversationRecord;
  onChange(): void;
}

export function ConversationActions({ record, onChange }: ConversationActionsProps): ReactElement {
  const { client } = useSession();
  const [asked, setAsked] = useState<'stop' | 'delete' | 'edit' | null>(null);
  const action = useAction();
  const { id, sandbox_id: sandboxId, sandbox_status: status } = record;
  const isReleased = status === 'PAUSED' && record.conversation_url === null;
  const run = (work: () => Promise<unknown>): void => {
    void action.run(async () => {
      await work();
      onChange();
    });
  };
  return (
    <>
      {AT_WORK.has((record.execution_status ?? '').toUpperCase()) && record.conversation_url !== null ? (
        <Button
          busy={action.isBusy}
          onClick={() => run(() => client.interruptAgent({ params: { conversation_id: id } }))}
        >
          Interrupt
        </Button>
      ) : null}
      {sandboxId !== null && isReleased ? (
        <Button
          busy={action.isBusy}
          onClick={() => run(() => client.resumeSandbox({ params: { sandbox_id: sandboxId } }))}
        >
          Resume sandbox
        </Button>
      ) : null}
      {sandboxId !== null && !isReleased && (status === 'RUNNING' || status === 'PAUSED') ? (
        <Button onClick={() => setAsked('stop')}>Stop sandbox</Button>
      ) : null}
      <Button
        busy={action.isBusy}
        onClick={() =>
          run(async () =>
            saveFile(await client.downloadTrajectory({ params: { conversation_id: id } }), `${id}.zip`),
          )
        }
      >
        Download
      </Button>
      <Button onClick={() => setAsked('edit')}>Edit</Button>
      <Button kind="danger" onClick={() => setAsked('delete')}>
        Delete
      </Button>
      <Problems of={action.problems} />
      {asked === 'stop' && sandboxId !== null ? (
        <ImpactDialog sandboxId={sandboxId} kind="pause" onLeave={() => setAsked(null)} />
      ) : null}
      {asked === 'edit' ? (
        <EditDialog record={record} onLeave={() => setAsked(null)} onChange={onChange} />
      ) : null}
      {asked === 'delete' ? <DeleteDialog record={record} onLeave={() => setAsked(null)} /> : null}
    </>
  );
}

interface DeleteDialogProps {
  readonly record: ConversationRecord;
  onLeave(): void;
}

/** Before a conversation is deleted. */
function DeleteDialog({ record, onLeave }: DeleteDialogProps): ReactElement {
  const { client } = useSession();
  return (
    <ConfirmDialog
      title="Delete this conversation?"
      word="Delete conversation"
      work={() => client.deleteAppConversation({ params: { conversation_id: record.id } })}
      onLeave={onLeave}
      onDone={() => goTo({ page: 'conversations' })}
    >
      “{record.title}” and its transcript are removed for good. A sandbox that was made for it goes too,
      unless another conversation is in it.
    </ConfirmDialog>
  );
}
