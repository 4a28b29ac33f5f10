/**
 * What `parley doctor` finds out about Docker, as a program that another user can run.
 * Owns nothing: socket and chosen runtime are its arguments, the finding goes to standard output as JSON.
 */
import { checkDocker } from '../../cli/doctor/doctor-runtimes.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import type { Finding } from '../../host/finding.ts';

/** What it prints. */
export type ToldFinding = Finding;

async function main(): Promise<void> {
  const [socket = '', runtimeKind = ''] = process.argv.slice(2);
  const config = { docker: { socket }, runtimeKind, agent: { kind: 'reference' } } as DeploymentConfig;
  process.stdout.write(JSON.stringify(await checkDocker(config)));
}

void main();
