/**
 * What can be done to several conversations at once.
 * Owns which state takes which; a sandbox that is shared is stopped for all in it, and that is said before.
 */
import type { Client } from '../../api/client/client.ts';
import type { BulkAction, BulkRow } from '../lists/bulk-bar.tsx';
import type { ConversationRecord } from './conversation-table.tsx';

export interface ConversationRow extends BulkRow {
  readonly record: ConversationRecord;
}

const NO_SANDBOX = 'it has no sandbox that could be asked';

export function conversationActions(client: Client): readonly BulkAction<ConversationRow>[] {
  const inSandbox = ({ record }: ConversationRow) => ({ params: { sandbox_id: record.sandbox_id ?? '' } });
  const isIn = ({ record: { sandbox_id: id, sandbox_status: status } }: ConversationRow): boolean =>
    id !== null && (status === 'RUNNING' || status === 'PAUSED');
  return [
    {
      name: 'Stop',
      warning:
        'The sandbox of each is stopped, and with it every agent in it, also of other conversations. Files and transcripts are kept.',
      refusal: (row) => (isIn(row) ? null : NO_SANDBOX),
      run: (row) => client.pauseSandbox(inSandbox(row)),
    },
    {
      name: 'Resume',
      refusal: (row) => (isIn(row) ? null : NO_SANDBOX),
      run: (row) => client.resumeSandbox(inSandbox(row)),
    },
    {
      name: 'Delete',
      warning:
        'They and their transcripts are removed for good. A sandbox that was made for one of them is archived and goes too, unless another conversation is in it.',
      refusal: () => null,
      run: ({ id }) => client.deleteAppConversation({ params: { conversation_id: id } }),
    },
  ];
}
