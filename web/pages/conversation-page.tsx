/**
 * One conversation: its record, its events as they come, what can be said to its agent, and what came of it.
 * Owns the asking; the parts of the page are in conversation/ and work/.
 */
import { type ReactElement, useState } from 'react';
import { PageHead } from '../components/page-head.tsx';
import { Empty } from '../components/parts.tsx';
import { ConfirmationBar } from '../conversation/confirmation-bar.tsx';
import { ConversationActions } from '../conversation/conversation-actions.tsx';
import { ConversationFacts } from '../conversation/conversation-facts.tsx';
import { ConversationLife } from '../conversation/conversation-life.tsx';
import type { ChangingProps } from '../conversation/conversation-table.tsx';
import { ViewLinks, WorkView } from '../conversation/conversation-views.tsx';
import { MessageBox } from '../conversation/message-box.tsx';
import { SearchPanel } from '../conversation/search-panel.tsx';
import { Transcript, type TranscriptTarget } from '../conversation/transcript.tsx';
import { useCosts } from '../conversation/use-costs.ts';
import { type FollowedEvents, useEvents } from '../data/use-events.ts';
import { useAnswer } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import type { ConversationView } from '../routing/place.ts';

interface ConversationPageProps {
  readonly id: string;
  /** Null for what is said in it. */
  readonly view: ConversationView | null;
}

export function ConversationPage({ id, view }: ConversationPageProps): ReactElement {
  const { value, problem, again } = useAnswer('getAppConversations', { query: { ids: [id] } });
  const record = value?.[0] ?? null;
  const followed = useEvents(record === null ? null : id);
  const back = <Link to={{ page: 'conversations' }}>Conversations</Link>;
  if (record === null)
    return (
      <>
        <PageHead title="Conversation">{back}</PageHead>
        <Empty isKnown={value !== null} problem={problem}>
          <p>There is no such conversation, or it was deleted.</p>
        </Empty>
      </>
    );
  return (
    <>
      <PageHead title={record.title} actions={<ConversationActions record={record} onChange={again} />}>
        {back}
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

interface TalkProps extends ChangingProps {
  readonly followed: FollowedEvents;
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
