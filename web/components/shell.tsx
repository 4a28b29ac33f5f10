/**
 * What surrounds every page: the navigation, who is signed in, and the way out.
 * Owns the landmarks; a page is whatever is handed in.
 */
import type { ReactElement, ReactNode } from 'react';
import { forgetOutage, useOutage } from '../data/outage.ts';
import { useAnswer } from '../data/use-polled.ts';
import { ShortcutsDialog, useShortcuts } from '../keyboard/use-shortcuts.tsx';
import { Link } from '../routing/link.tsx';
import type { Place } from '../routing/place.ts';
import { useSession } from '../session/session.ts';
import { THEMES, useTheme } from '../session/theme.ts';
import { exactDuration } from '../text/time.ts';
import { labelOf } from '../text/words.ts';
import { Button, Choices } from './form.tsx';
import { Mark } from './mark.tsx';
import { Notice, TimeOfDay } from './parts.tsx';

/** A person who writes into a form learns of an outage before it is sent: nothing else on a page may ask for minutes. */
const HEARTBEAT_MS = 3_000;

interface ShellProps {
  readonly place: Place;
  readonly children: ReactNode;
}

export function Shell({ place, children }: ShellProps): ReactElement {
  const { user, signOut } = useSession();
  const [isHelping, setIsHelping] = useShortcuts();
  return (
    <div className="shell">
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <header className="side">
        <Link to={{ page: 'overview' }} className="brand">
          <Mark size={26} />
          <span>Parley</span>
        </Link>
        <Navigation place={place} isAdmin={user.role === 'admin'} />
        <div className="side-foot">
          <ThemeField />
          <Button kind="quiet" onClick={() => setIsHelping(true)}>
            Keys <kbd>?</kbd>
          </Button>
        </div>
        <div className="who">
          <div className="who-name">
            <strong>{user.id}</strong>
            <span className="quiet">{user.role === 'admin' ? 'Administrator' : 'User'}</span>
          </div>
          <Button kind="quiet" onClick={() => signOut()}>
            Sign out
          </Button>
        </div>
      </header>
      <main className="page" id="page">
        <OutageNotice />
        {children}
      </main>
      {isHelping ? <ShortcutsDialog onLeave={() => setIsHelping(false)} /> : null}
    </div>
  );
}

/** The choice between light, dark and what the system says. */
function ThemeField(): ReactElement {
  const [theme, choose] = useTheme();
  return (
    <label className="theme">
      <span className="quiet">Colours</span>
      <select
        value={theme}
        onChange={(event) => choose(THEMES.find((one) => one === event.target.value) ?? 'system')}
      >
        <Choices of={THEMES.map((one) => [one, labelOf(one)])} />
      </select>
    </label>
  );
}

/** What stands above every page while the service is away, and for a while after. */
function OutageNotice(): ReactElement | null {
  useAnswer('isAlive', {}, HEARTBEAT_MS);
  const { sinceMs, over } = useOutage();
  if (sinceMs !== null)
    return (
      <Notice tone="bad">
        The service cannot be reached since <TimeOfDay at={sinceMs} />. What is shown is from then; it goes on
        by itself when the service is back.
      </Notice>
    );
  if (over === null) return null;
  return (
    <Notice tone="good">
      <div className="outage-over">
        <span>
          The service could not be reached from <TimeOfDay at={over.fromMs} /> on, for{' '}
          {exactDuration(over.untilMs - over.fromMs)}. It is back, and the page is up to date.
        </span>
        <Button kind="quiet" onClick={forgetOutage}>
          Understood
        </Button>
      </div>
    </Notice>
  );
}

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

/** The list of pages. */
function Navigation({ place, isAdmin }: { readonly place: Place; readonly isAdmin: boolean }): ReactElement {
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
