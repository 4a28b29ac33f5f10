/**
 * All conversations of the user, live: filtered, ordered and paged by the server, and changed several at once.
 * Owns the asking; a row is drawn by the table.
 */
import { type ReactElement, useState } from 'react';
import { Button } from '../components/form.tsx';
import { PageHead } from '../components/page-head.tsx';
import { conversationActions } from '../conversation/bulk-actions.ts';
import {
  CONVERSATION_FIELDS,
  conversationQuery,
  FIRST_CONVERSATIONS,
} from '../conversation/conversation-filter.ts';
import { conversationColumns } from '../conversation/conversation-table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { BulkBar } from '../lists/bulk-bar.tsx';
import { FilteredListing } from '../lists/listing.tsx';
import { useSelection } from '../lists/selection.tsx';
import { pageQuery, useListState } from '../lists/use-list-state.ts';
import { useSession } from '../session/session.ts';
import { StartDialog } from '../start/start-dialog.tsx';

export function ConversationsPage(): ReactElement {
  const { client } = useSession();
  const state = useListState(FIRST_CONVERSATIONS);
  const selection = useSelection();
  const [isStarting, setIsStarting] = useState(false);
  const { filter } = state;
  const query = { ...pageQuery(state.pageId), ...conversationQuery(filter) };
  const polled = useAnswer('searchAppConversations', { query });
  return (
    <>
      <PageHead
        title="Conversations"
        actions={
          <Button kind="primary" onClick={() => setIsStarting(true)}>
            Start a conversation
          </Button>
        }
      >
        What agents are working on, as it happens.
      </PageHead>
      <FilteredListing
        label="Conversations"
        fields={CONVERSATION_FIELDS}
        polled={polled}
        state={state}
        empty={<p>No conversation yet.</p>}
        none="No conversation is so."
        columns={conversationColumns(selection, filter.sort, (sort) => state.setFilter({ sort }))}
        keyOf={({ id }) => id}
      />
      <BulkBar
        rows={(polled.value?.items ?? []).map((record) => ({ id: record.id, name: record.title, record }))}
        selection={selection}
        actions={conversationActions(client)}
        onDone={polled.again}
      />
      {isStarting ? <StartDialog onLeave={() => setIsStarting(false)} /> : null}
    </>
  );
}
