/**
 * What surrounds every page: the navigation, who is signed in, and the way out.
 * Owns the landmarks; a page is whatever is handed in.
 */
import type { ReactElement, ReactNode } from 'react';
import { forgetOutage, useOutage } from '../data/outage.ts';
import { useHeartbeat } from '../data/use-heartbeat.ts';
import { Link } from '../routing/link.tsx';
import type { Place } from '../routing/place.ts';
import { useSession } from '../session/session.ts';
import { THEMES, useTheme } from '../session/theme.ts';
import { exactDuration } from '../text/time.ts';
import { labelOf } from '../text/words.ts';
import { Button } from './button.tsx';
import { Mark } from './mark.tsx';
import { ShortcutsDialog } from '../keyboard/shortcuts-dialog.tsx';
import { useShortcuts } from '../keyboard/use-shortcuts.ts';
import { Navigation } from './navigation.tsx';
import { Notice } from './notice.tsx';
import { TimeOfDay } from './when.tsx';

export function Shell({
  place,
  children,
}: {
  readonly place: Place;
  readonly children: ReactNode;
}): ReactElement {
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
        {THEMES.map((one) => (
          <option key={one} value={one}>
            {labelOf(one)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What stands above every page while the service is away, and for a while after. */
function OutageNotice(): ReactElement | null {
  useHeartbeat();
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
