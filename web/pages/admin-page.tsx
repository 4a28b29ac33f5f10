/**
 * The admin console: Sandbox Configuration, what the proxy sends on, and the configuration as a whole.
 * Owns the reading; each section saves and deploys for itself, resting on the text that was read.
 */
import { type ReactElement, useState } from 'react';
import { AuditList } from '../admin/audit-table.tsx';
import { type Configuration, Deployed, type Deployment } from '../admin/deployed.tsx';
import { ProxySection } from '../admin/proxy-section.tsx';
import { SandboxSection, YamlSection } from '../admin/sandbox-section.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Loaded } from '../components/parts.tsx';
import { useAnswer } from '../data/use-polled.ts';

export function AdminPage(): ReactElement {
  const [deployment, setDeployment] = useState<Deployment | null>(null);
  const { value, problem, again } = useAnswer('getConfiguration', {}, null);
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
      <Loaded of={{ value: configuration, problem: configuration === null ? problem : null }}>
        {(shown) => (
          // Another text is another form: what was typed into the one before is not kept over it.
          <div className="form" key={shown.revision}>
            <Deployed configuration={shown} deployment={deployment} />
            <SandboxSection configuration={shown} onDeployed={onDeployed} />
            <ProxySection configuration={shown} onDeployed={onDeployed} />
            <YamlSection configuration={shown} onDeployed={onDeployed} />
            <AuditList />
          </div>
        )}
      </Loaded>
    </>
  );
}
