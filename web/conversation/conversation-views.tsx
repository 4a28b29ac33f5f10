/**
 * The views of one conversation: its transcript, and its results.
 * Owns their names and order; what is heavy is loaded when it is opened.
 */
import { lazy, type ReactElement, Suspense } from 'react';
import { Empty } from '../components/parts.tsx';
import { Link } from '../routing/link.tsx';
import type { ConversationView } from '../routing/place.ts';
import { Awake } from '../work/awake.tsx';
import type { ConversationRecord } from './conversation-table.tsx';

const NAMES: readonly (readonly [view: ConversationView | null, name: string])[] = [
  [null, 'Conversation'],
  ['changes', 'Changes'],
  ['files', 'Files'],
  ['skills', 'Skills and hooks'],
  ['usage', 'Usage'],
];

const VIEWS = {
  changes: lazy(async () => ({ default: (await import('../work/changes-view.tsx')).ChangesView })),
  files: lazy(async () => ({ default: (await import('../work/files-view.tsx')).FilesView })),
  skills: lazy(async () => ({ default: (await import('../work/skills-view.tsx')).SkillsView })),
  usage: lazy(async () => ({ default: (await import('../work/usage-view.tsx')).UsageView })),
} as const;

interface ViewLinksProps {
  readonly id: string;
  readonly view: ConversationView | null;
}

export function ViewLinks({ id, view }: ViewLinksProps): ReactElement {
  return (
    <nav className="views" aria-label="Views">
      <ul>
        {NAMES.map(([one, name]) => (
          <li key={name}>
            <Link
              to={{ page: 'conversation', id, ...(one === null ? {} : { view: one }) }}
              current={one === view}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface WorkViewProps {
  readonly view: ConversationView;
  readonly record: ConversationRecord;
}

/** All but the usage read the workspace, whose sandbox may not be up. */
export function WorkView({ view, record }: WorkViewProps): ReactElement {
  const View = VIEWS[view];
  const shown = <View id={record.id} />;
  return (
    <Suspense fallback={<Empty isKnown={false} />}>
      {view === 'usage' ? (
        shown
      ) : (
        <Awake key={view} record={record}>
          {shown}
        </Awake>
      )}
    </Suspense>
  );
}
