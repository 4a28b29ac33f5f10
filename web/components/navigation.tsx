/**
 * The list of pages.
 * Owns their order and names; what is for administrators is shown to them only.
 */
import type { ReactElement } from 'react';
import { Link } from '../routing/link.tsx';
import type { Place } from '../routing/place.ts';

interface Entry {
  readonly to: Place;
  readonly name: string;
}

const WORK: readonly Entry[] = [
  { to: { page: 'overview' }, name: 'Overview' },
  { to: { page: 'conversations' }, name: 'Conversations' },
  { to: { page: 'sandboxes' }, name: 'Sandboxes' },
  { to: { page: 'runs' }, name: 'Runs' },
];
const SETTINGS: readonly Entry[] = [
  { to: { page: 'settings-application' }, name: 'Application' },
  { to: { page: 'settings-llm' }, name: 'LLM' },
  { to: { page: 'secrets' }, name: 'Secrets' },
  { to: { page: 'keys' }, name: 'Keys' },
];
const ADMIN: readonly Entry[] = [
  { to: { page: 'admin' }, name: 'Admin console' },
  { to: { page: 'audit' }, name: 'Audit log' },
];

export function Navigation({
  place,
  isAdmin,
}: {
  readonly place: Place;
  readonly isAdmin: boolean;
}): ReactElement {
  return (
    <nav className="navigation" aria-label="Pages">
      <Group entries={WORK} place={place} />
      <Group title="Settings" entries={SETTINGS} place={place} />
      {isAdmin ? <Group title="Deployment" entries={ADMIN} place={place} /> : null}
    </nav>
  );
}

interface GroupProps {
  readonly title?: string;
  readonly entries: readonly Entry[];
  readonly place: Place;
}

function Group({ title, entries, place }: GroupProps): ReactElement {
  return (
    <div className="navigation-group">
      {title === undefined ? null : <p className="navigation-title">{title}</p>}
      <ul>
        {entries.map(({ to, name }) => (
          <li key={name}>
            <Link to={to} current={isAt(place, to)}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What belongs to runs, and is no run. */
const BESIDE_RUNS: ReadonlySet<Place['page']> = new Set(['start-run', 'comparison', 'job']);

/** One conversation is on the page of conversations. */
function isAt({ page }: Place, to: Place): boolean {
  return page === to.page || `${page}s` === to.page || (to.page === 'runs' && BESIDE_RUNS.has(page));
}
