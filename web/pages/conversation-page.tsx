/**
 * One conversation: its record, its events as they come, what can be said to its agent, and what came of it.
 * Owns the asking; the parts of the page are in conversation/ and work/.
 */
import { useCallback, useState, type ReactElement } from 'react';
import { Empty } from '../components/empty.tsx';
import { PageHead } from '../components/page-head.tsx';
import { ConfirmationBar } from '../conversation/confirmation-bar.tsx';
import { ConversationActions } from '../conversation/conversation-actions.tsx';
import { ConversationFacts } from '../conversation/conversation-facts.tsx';
import { ConversationLife } from '../conversation/conversation-life.tsx';
import type { ConversationRecord } from '../conversation/conversation-table.tsx';
import { ViewLinks, WorkView } from '../conversation/conversation-views.tsx';
import { MessageBox } from '../conversation/message-box.tsx';
import { SearchPanel } from '../conversation/search-panel.tsx';
import { Transcript, type TranscriptTarget } from '../conversation/transcript.tsx';
import { useCosts } from '../conversation/use-costs.ts';
import { useEvents, type FollowedEvents } from '../data/use-events.ts';
import { usePolled } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import type { ConversationView } from '../routing/place.ts';
import { useSession } from '../session/session.ts';

export interface ConversationPageProps {
  readonly id: string;
  /** Null for what is said in it. */
  readonly view: ConversationView | null;
}

export function ConversationPage({ id, view }: ConversationPageProps): ReactElement {
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
      <ConversationLife record={record} events={followed.events} problem={problem ?? followed.problem} />
      <ViewLinks id={id} view={view} />
      <div className="with-side">
        <div className="main-column">
          {view === null ? (
            <Talk record={record} followed={followed} onChange={again} />
          ) : (
            <WorkView view={view} record={record} />
          )}
        </div>
        <ConversationFacts record={record} />
      </div>
    </>
  );
}

interface TalkProps {
  readonly record: ConversationRecord;
  readonly followed: FollowedEvents;
  onChange(): void;
}

function Talk({ record, followed, onChange }: TalkProps): ReactElement {
  const [target, setTarget] = useState<TranscriptTarget | null>(null);
  const first = followed.events[0]?.event['timestamp'];
  const costs = useCosts(record.id, typeof first === 'string' ? zoned(first) : null);
  const onGo = (seq: number): void => {
    setTarget({ seq });
    followed.goTo(seq);
  };
  return (
    <section aria-label="Transcript" className="talk">
      <SearchPanel id={record.id} total={followed.total} onGo={onGo} />
      <Transcript followed={followed} costs={costs} target={target} />
      <ConfirmationBar record={record} events={followed.events} onChange={onChange} />
      <MessageBox record={record} onChange={onChange} />
    </section>
  );
}

/** Instants of an agent have no zone, and are UTC. A model is asked a while before the event that it leads to. */
function zoned(timestamp: string): string {
  const at = Date.parse(`${timestamp.replace(/Z$/, '')}Z`);
  return new Date((Number.isNaN(at) ? 0 : at) - BEFORE_MS).toISOString();
}

const BEFORE_MS = 600_000;

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
