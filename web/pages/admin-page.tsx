/**
 * The admin console: Sandbox Configuration, what the proxy sends on, and the configuration as a whole.
 * Owns the reading; each section saves and deploys for itself, resting on the text that was read.
 */
import { useCallback, useState, type ReactElement } from 'react';
import { AuditList } from '../admin/audit-list.tsx';
import { Deployed, type Configuration, type Deployment } from '../admin/deployed.tsx';
import { ProxySection } from '../admin/proxy-section.tsx';
import { SandboxSection } from '../admin/sandbox-section.tsx';
import { YamlSection } from '../admin/yaml-section.tsx';
import { Empty } from '../components/empty.tsx';
import { PageHead } from '../components/page-head.tsx';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';

export function AdminPage(): ReactElement {
  const { client } = useSession();
  const [deployment, setDeployment] = useState<Deployment | null>(null);
  const ask = useCallback((signal: AbortSignal) => client.getConfiguration({}, { signal }), [client]);
  const { value, problem, again } = usePolled(ask, null);
  const configuration: Configuration | null = deployment ?? value;
  const onDeployed = (next: Deployment): void => {
    setDeployment(next);
    again();
  };
  return (
    <>
      <PageHead title="Admin console">
        {configuration === null ? 'The configuration of this deployment.' : <code>{configuration.path}</code>}
      </PageHead>
      {configuration === null ? (
        <Empty isLoading={problem === null} problem={problem}>
          {null}
        </Empty>
      ) : (
        // Another text is another form: what was typed into the one before is not kept over it.
        <div className="form" key={configuration.revision}>
          <Deployed configuration={configuration} deployment={deployment} />
          <SandboxSection configuration={configuration} onDeployed={onDeployed} />
          <ProxySection configuration={configuration} onDeployed={onDeployed} />
          <YamlSection configuration={configuration} onDeployed={onDeployed} />
          <AuditList />
        </div>
      )}
    </>
  );
}
