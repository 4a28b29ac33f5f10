/**
 * What the last deployment has changed, what does not hold yet, what waits for a restart, and the form of a section.
 * Owns the sentences, and the button that deploys.
 */
import { type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { WorkForm } from '../components/dialog.tsx';
import { Button } from '../components/form.tsx';
import { Notice } from '../components/parts.tsx';

export type Configuration = ResultOf<'get_configuration'>;
export type Deployment = ResultOf<'deploy_configuration'>;

/** What every section of the page is handed. */
export interface SectionProps {
  readonly configuration: Configuration;
  onDeployed(deployment: Deployment): void;
}

interface DeployFormProps {
  readonly id: string;
  readonly title: string;
  readonly children: ReactNode;
  /** Nothing in it differs from what holds. */
  readonly isSame?: boolean;
  onDiscard?(): void;
  /** @throws what is wrong with what was typed, and what the API refuses it for */
  deploy(): Promise<void>;
}

export function DeployForm(props: DeployFormProps): ReactElement {
  const { id, title, children, isSame = false, onDiscard, deploy } = props;
  const discard = (
    <Button disabled={isSame} onClick={onDiscard}>
      Discard
    </Button>
  );
  return (
    <WorkForm
      className="card stack"
      labelledBy={id}
      word="Save and deploy"
      disabled={isSame}
      work={deploy}
      beside={onDiscard === undefined ? null : discard}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </WorkForm>
  );
}

interface DeployedProps {
  readonly configuration: Configuration;
  /** Null before anything was deployed on this page. */
  readonly deployment: Deployment | null;
}

export function Deployed({ configuration, deployment }: DeployedProps): ReactElement {
  const { needs_restart: waiting, overridden, warnings } = configuration;
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button that was pressed may be far below.
    if (deployment !== null) top.current?.scrollIntoView({ block: 'center' });
  }, [deployment]);
  return (
    <div className="stack" ref={top}>
      {deployment === null ? null : (
        <Notice tone="good">
          <p>{deployed(deployment)}</p>
        </Notice>
      )}
      {warnings.length === 0 ? null : (
        <Notice tone="wait">
          {warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </Notice>
      )}
      {waiting.length === 0 ? null : (
        <Notice tone="wait">These hold after the next start of the service: {waiting.join(', ')}.</Notice>
      )}
      {overridden.length === 0 ? null : (
        <Notice tone="calm">The environment decides, whatever the file says: {overridden.join(', ')}.</Notice>
      )}
    </div>
  );
}

function deployed({ applied, warnings }: Deployment): string {
  if (applied.length > 0) return `Saved and deployed. These hold from now on: ${applied.join(', ')}.`;
  return warnings.length > 0
    ? 'Saved.'
    : 'Saved and deployed. Nothing had to be changed in the running service.';
}
