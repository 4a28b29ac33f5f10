/**
 * Before a conversation is deleted.
 * Owns the question; whether its sandbox goes too depends on who else is in it.
 */
import type { ReactElement } from 'react';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { goTo } from '../routing/use-place.ts';
import { useSession } from '../session/session.ts';
import type { ConversationRecord } from './conversation-table.tsx';

export interface DeleteDialogProps {
  readonly record: ConversationRecord;
  onLeave(): void;
}

export function DeleteDialog({ record, onLeave }: DeleteDialogProps): ReactElement {
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
