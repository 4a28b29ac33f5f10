/**
 * All conversations of the user, live: filtered, ordered and paged by the server, and changed several at once.
 * Owns the asking; a row is drawn by the table.
 */
import { useCallback, useState, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { PageHead } from '../components/page-head.tsx';
import { conversationActions } from '../conversation/bulk-actions.ts';
import {
  CONVERSATION_FIELDS,
  conversationQuery,
  FIRST_CONVERSATIONS,
} from '../conversation/conversation-filter.ts';
import { ConversationTable } from '../conversation/conversation-table.tsx';
import { pageQuery } from '../lists/page-query.ts';
import { StartDialog } from '../start/start-dialog.tsx';
import { usePolled } from '../data/use-polled.ts';
import { BulkBar } from '../lists/bulk-bar.tsx';
import { FilterBar } from '../lists/filter-bar.tsx';
import { Listing } from '../lists/listing.tsx';
import { useListState } from '../lists/use-list-state.ts';
import { useSelection } from '../lists/use-selection.ts';
import { useSession } from '../session/session.ts';

export function ConversationsPage(): ReactElement {
  const { client } = useSession();
  const state = useListState(FIRST_CONVERSATIONS);
  const selection = useSelection();
  const [isStarting, setIsStarting] = useState(false);
  const { filter } = state;
  const pageId = state.pageId;
  const ask = useCallback(
    (signal: AbortSignal) => {
      return client.searchAppConversations(
        { query: { ...pageQuery(pageId), ...conversationQuery(filter) } },
        { signal },
      );
    },
    [client, pageId, filter],
  );
  const polled = usePolled(ask);
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
      <FilterBar
        label="Conversations"
        fields={CONVERSATION_FIELDS}
        values={filter}
        onChange={(change) => state.setFilter(change)}
      />
      <Listing
        label="Conversations"
        polled={polled}
        state={state}
        empty={<p>No conversation yet.</p>}
        none="No conversation is so."
      >
        {(rows) => (
          <ConversationTable
            rows={rows}
            selection={selection}
            sort={filter.sort}
            onSort={(sort) => state.setFilter({ sort })}
          />
        )}
      </Listing>
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
