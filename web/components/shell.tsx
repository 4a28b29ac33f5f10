/**
 * What surrounds every page: the navigation, who is signed in, and the way out.
 * Owns the landmarks; a page is whatever is handed in.
 */
import type { ReactElement, ReactNode } from 'react';
import { Link } from '../routing/link.tsx';
import type { Place } from '../routing/place.ts';
import { useSession } from '../session/session.ts';
import { THEMES, useTheme } from '../session/theme.ts';
import { labelOf } from '../text/words.ts';
import { Button } from './button.tsx';
import { Mark } from './mark.tsx';
import { ShortcutsDialog } from '../keyboard/shortcuts-dialog.tsx';
import { useShortcuts } from '../keyboard/use-shortcuts.ts';
import { Navigation } from './navigation.tsx';
import { OutageNotice } from './outage-notice.tsx';

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
