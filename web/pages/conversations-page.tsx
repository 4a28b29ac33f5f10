/**
 * All conversations of the user, newest first and live.
 * Owns filter and paging; a row is drawn by the table.
 */
import { useCallback, useState, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Pager } from '../components/pager.tsx';
import { ConversationTable } from '../conversation/conversation-table.tsx';
import { StartDialog } from '../conversation/start-dialog.tsx';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';

const PAGE_ROWS = 50;

export function ConversationsPage(): ReactElement {
  const { client } = useSession();
  const [title, setTitle] = useState('');
  const [pages, setPages] = useState<readonly string[]>([]);
  const [isStarting, setIsStarting] = useState(false);
  const pageId = pages.at(-1);
  const ask = useCallback(
    (signal: AbortSignal) =>
      client.searchAppConversations(
        {
          query: {
            limit: PAGE_ROWS,
            ...(pageId === undefined ? {} : { page_id: pageId }),
            ...(title === '' ? {} : { title__contains: title }),
          },
        },
        { signal },
      ),
    [client, pageId, title],
  );
  const { value, problem } = usePolled(ask);
  const rows = value?.items ?? [];
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
      <div className="filters" role="search">
        <input
          type="search"
          aria-label="Title contains"
          placeholder="Search titles"
          value={title}
          onChange={(event) => {
            setTitle(event.target.value);
            setPages([]);
          }}
        />
      </div>
      {rows.length > 0 && problem !== null ? <Notice tone="bad">{problem}</Notice> : null}
      {rows.length > 0 ? (
        <ConversationTable rows={rows} />
      ) : (
        <Empty isLoading={value === null} problem={problem}>
          <p>{title === '' ? 'No conversation yet.' : 'No title holds this text.'}</p>
        </Empty>
      )}
      <Pager pages={pages} next={value?.next_page_id ?? null} onChange={setPages} />
      {isStarting ? <StartDialog onLeave={() => setIsStarting(false)} /> : null}
    </>
  );
}
