/**
 * One conversation: its record, its events as they come, and what can be said to its agent.
 * Owns the asking; the parts of the page are in conversation/.
 */
import { useCallback, type ReactElement } from 'react';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { ConfirmationBar } from '../conversation/confirmation-bar.tsx';
import { ConversationActions } from '../conversation/conversation-actions.tsx';
import { ConversationFacts } from '../conversation/conversation-facts.tsx';
import type { ConversationRecord } from '../conversation/conversation-table.tsx';
import { Transcript } from '../conversation/transcript.tsx';
import { MessageBox } from '../conversation/message-box.tsx';
import { useEvents } from '../data/use-events.ts';
import { usePolled } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { useSession } from '../session/session.ts';

export function ConversationPage({ id }: { readonly id: string }): ReactElement {
  const { client } = useSession();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const [record] = await client.getAppConversations({ query: { ids: [id] } }, { signal });
      return { record: record ?? null };
    },
    [client, id],
  );
  const { value, problem, again } = usePolled(ask);
  const record = value?.record ?? null;
  const followed = useEvents(record === null ? null : id);
  if (record === null) return <NoRecord isLoading={value === null} problem={problem} />;
  return (
    <>
      <PageHead title={record.title} actions={<ConversationActions record={record} onChange={again} />}>
        <Link to={{ page: 'conversations' }}>Conversations</Link>
      </PageHead>
      <Life record={record} problem={problem ?? followed.problem} />
      <div className="with-side">
        <section aria-label="Transcript">
          <Transcript followed={followed} />
          <ConfirmationBar record={record} events={followed.events} onChange={again} />
          <MessageBox record={record} onChange={again} />
        </section>
        <ConversationFacts record={record} />
      </div>
    </>
  );
}

function NoRecord({
  isLoading,
  problem,
}: {
  readonly isLoading: boolean;
  readonly problem: string | null;
}): ReactElement {
  return (
    <>
      <PageHead title="Conversation">
        <Link to={{ page: 'conversations' }}>Conversations</Link>
      </PageHead>
      <Empty isLoading={isLoading} problem={problem}>
        <p>There is no such conversation, or it was deleted.</p>
      </Empty>
    </>
  );
}

interface LifeProps {
  readonly record: ConversationRecord;
  readonly problem: string | null;
}

/** What a person must know before reading on. */
function Life({ record, problem }: LifeProps): ReactElement | null {
  if (problem !== null) return <Notice tone="bad">{problem}</Notice>;
  const { sandbox_status: status, start_task_status: start } = record;
  if (start === 'ERROR')
    return (
      <Notice tone="bad">The start has failed: {record.start_task_detail ?? 'no reason was given'}</Notice>
    );
  if (status === 'MISSING' || status === 'ERROR')
    return (
      <Notice tone="calm">
        Read-only: the sandbox of this conversation is gone, and its transcript is kept.
      </Notice>
    );
  if (record.transition === 'resuming') return <Notice tone="wait">The sandbox is resuming.</Notice>;
  if (record.stale)
    return (
      <Notice tone="wait">The runtime cannot be asked at the moment; this is the last known state.</Notice>
    );
  return null;
}
