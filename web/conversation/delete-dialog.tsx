/**
 * Before a conversation is deleted.
 * Owns the question; whether its sandbox goes too depends on who else is in it.
 */
import type { ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Problems } from '../components/notice.tsx';
import { useAction } from '../data/use-action.ts';
import { goTo } from '../routing/use-place.ts';
import { useSession } from '../session/session.ts';
import type { ConversationRecord } from './conversation-table.tsx';

export interface DeleteDialogProps {
  readonly record: ConversationRecord;
  onLeave(): void;
}

export function DeleteDialog({ record, onLeave }: DeleteDialogProps): ReactElement {
  const { client } = useSession();
  const action = useAction();
  const remove = async (): Promise<void> => {
    const params = { conversation_id: record.id };
    const isDone = await action.run(async () => void (await client.deleteAppConversation({ params })));
    if (isDone) goTo({ page: 'conversations' });
  };
  return (
    <Dialog title="Delete this conversation?" onLeave={onLeave}>
      <p>
        “{record.title}” and its transcript are removed for good. A sandbox that was made for it goes too,
        unless another conversation is in it.
      </p>
      <Problems of={action.problems} />
      <div className="dialog-actions">
        <Button autoFocus onClick={onLeave}>
          Keep it
        </Button>
        <Button kind="danger" busy={action.isBusy} onClick={() => void remove()}>
          Delete conversation
        </Button>
      </div>
    </Dialog>
  );
}
