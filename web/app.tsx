/**
 * The whole console: first the sign-in, then the shell with the page that the address names.
 * Owns the switch over pages; must not know what one shows.
 */
import type { ReactElement } from 'react';
import { Shell } from './components/shell.tsx';
import { AdminPage } from './pages/admin-page.tsx';
import { AuditPage } from './pages/audit-page.tsx';
import { ComparisonPage } from './pages/comparison-page.tsx';
import { ConversationPage } from './pages/conversation-page.tsx';
import { ConversationsPage } from './pages/conversations-page.tsx';
import { JobPage } from './pages/job-page.tsx';
import { KeysPage } from './pages/keys-page.tsx';
import { MissingPage } from './pages/missing-page.tsx';
import { OverviewPage } from './pages/overview-page.tsx';
import { ReportPage } from './pages/report-page.tsx';
import { RunPage } from './pages/run-page.tsx';
import { RunsPage } from './pages/runs-page.tsx';
import { SandboxesPage } from './pages/sandboxes-page.tsx';
import { SecretsPage } from './pages/secrets-page.tsx';
import { SettingsApplicationPage } from './pages/settings-application-page.tsx';
import { SettingsLlmPage } from './pages/settings-llm-page.tsx';
import { StartRunPage } from './pages/start-run-page.tsx';
import type { Place } from './routing/place.ts';
import { usePlace } from './routing/use-place.ts';
import { SessionGate } from './session/session-gate.tsx';

export function App(): ReactElement {
  const place = usePlace();
  return (
    <SessionGate>
      <Shell place={place}>
        <Page place={place} />
      </Shell>
    </SessionGate>
  );
}

function Page({ place }: { readonly place: Place }): ReactElement {
  switch (place.page) {
    case 'overview':
      return <OverviewPage />;
    case 'conversations':
      return <ConversationsPage />;
    case 'conversation':
      return <ConversationPage key={place.id} id={place.id} view={place.view ?? null} />;
    case 'sandboxes':
      return <SandboxesPage />;
    case 'runs':
      return <RunsPage />;
    case 'start-run':
      return <StartRunPage />;
    case 'run':
      return <RunPage key={place.id} id={place.id} />;
    case 'report':
      return <ReportPage key={place.id} id={place.id} />;
    case 'comparison':
      return <ComparisonPage key={`${place.id} ${place.before}`} id={place.id} before={place.before} />;
    case 'job':
      return <JobPage key={place.name} name={place.name} />;
    case 'settings-application':
      return <SettingsApplicationPage />;
    case 'settings-llm':
      return <SettingsLlmPage />;
    case 'secrets':
      return <SecretsPage />;
    case 'keys':
      return <KeysPage />;
    case 'audit':
      return <AuditPage />;
    case 'admin':
      return <AdminPage />;
    case 'missing':
      return <MissingPage />;
  }
}
