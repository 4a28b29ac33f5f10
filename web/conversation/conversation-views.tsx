/**
 * The ways to look at one conversation: what is said in it, and what came of it.
 * Owns their names and order; what is heavy is loaded when it is opened.
 */
import { lazy, Suspense, type ReactElement } from 'react';
import { Empty } from '../components/empty.tsx';
import { Link } from '../routing/link.tsx';
import type { ConversationView, Place } from '../routing/place.ts';
import type { ViewProps } from './view-props.ts';

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

export function ViewLinks({
  id,
  view,
}: {
  readonly id: string;
  readonly view: ConversationView | null;
}): ReactElement {
  return (
    <nav className="views" aria-label="Views">
      <ul>
        {NAMES.map(([one, name]) => (
          <li key={name}>
            <Link to={placeOf(id, one)} current={one === view}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function placeOf(id: string, view: ConversationView | null): Place {
  return view === null ? { page: 'conversation', id } : { page: 'conversation', id, view };
}

export function WorkView({ view, record }: ViewProps & { readonly view: ConversationView }): ReactElement {
  const View = VIEWS[view];
  return (
    <Suspense
      fallback={
        <Empty isLoading problem={null}>
          {null}
        </Empty>
      }
    >
      <View record={record} />
    </Suspense>
  );
}
