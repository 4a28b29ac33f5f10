/**
 * What a machine must have for a run, one check each, with what to do when it has not.
 * Owns the probes; must not change anything.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import type { LoadedDeployment } from '../../host/config/load-deployment.ts';
import { checkSandboxes } from './doctor-runtimes.ts';
import { failed, passed, warned, type Finding } from '../../host/finding.ts';
import type { Shell } from '../../host/shell.ts';

/** The oldest Node that every dependency runs on. */
const NODE_MIN = [20, 19] as const;
/** Fewer are soon used up; below some 200 not even the programs can be loaded. */
const OPEN_FILES_MIN = 1_024;
/** A program that does not say its version in this time does not work. */
const PROBE_MS = 10_000;

/** What a run of any job needs of this machine; folders and ports are in preflight/check-places.ts. */
export async function checkMachine(shell: Shell, loaded: LoadedDeployment): Promise<readonly Finding[]> {
  const { config } = loaded;
  const always = [
    ...[checkNode(), checkGit(), await checkOpenFiles()],
    ...checkPrograms(shell),
    ...checkConfig(loaded),
  ];
  if (config === null) return always;
  return [...always, ...(await checkSandboxes(config)), ...(await checkEngine(config))];
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isRecent = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  const detail = process.versions.node;
  return isRecent
    ? passed('node', detail)
    : failed('node', detail, `install Node ${NODE_MIN.join('.')} or newer`);
}

function checkGit(): Finding {
  const result = spawnSync('git', ['--version'], { encoding: 'utf8', timeout: PROBE_MS });
  if (result.status === 0) return passed('git', result.stdout.trim());
  return failed('git', 'not found', 'install Git and put it on the search path');
}

/** Each sandbox takes several, and so does each call of a model. */
async function checkOpenFiles(): Promise<Finding> {
  const { descriptorsMax } = await import('../../host/sandboxes/descriptor-shares.ts');
  const most = descriptorsMax();
  if (most >= OPEN_FILES_MIN) return passed('open files', most === Infinity ? 'no limit' : `${most} at once`);
  const remedy = `raise it: ulimit -n ${OPEN_FILES_MIN}, or LimitNOFILE= of the service`;
  return warned('open files', `no more than ${most} at once`, remedy);
}

function checkPrograms({ programDir }: Shell): Finding[] {
  const missing = ['agent-server.cjs', 'sandbox-init.cjs'].filter(
    (file) => !existsSync(path.join(programDir, file)),
  );
  if (missing.length === 0) return [passed('programs', 'built')];
  return [failed('programs', `missing: ${missing.join(', ')}`, 'build them with "npm run build"')];
}

function checkConfig({ problems, file }: LoadedDeployment): Finding[] {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return [passed('configuration', file === null ? 'defaults' : file.shown)];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return [
    failed('configuration', `${first.message}${more}`, first.remedy ?? 'look with "parley config check"'),
  ];
}

/** Whether there is anything that an agent could ask; what a job asks for is looked at with the job. */
export function checkModelList({ proxyConfigRaw }: DeploymentConfig): Finding {
  const list = (proxyConfigRaw as { readonly model_list?: unknown } | undefined)?.model_list;
  if (Array.isArray(list) && list.length > 0) return passed('models', `${list.length} listed`);
  return warned(
    'models',
    'the proxy lists none, so no agent can work',
    'list one under proxy_config.model_list',
  );
}

/** Nothing for the embedded engine, which needs nothing. */
async function checkEngine({ engine }: DeploymentConfig): Promise<readonly Finding[]> {
  if (engine.kind === 'embedded') return [];
  const { namespace, address } = engine.temporal;
  return [
    await probe('workflows', async () => {
      const { findWorkflowBundle } = await import('../../host/engines/workflow-bundle.ts');
      return `build ${findWorkflowBundle().buildId}`;
    }),
    await probe('engine', async () => {
      if (address === null) return 'Temporal; no server is named, so a command starts one for itself';
      const { checkServer } = await import('../../temporal/check-server.ts');
      const { namedServer } = await import('../../host/engines/temporal-server.ts');
      await checkServer(namedServer(engine.temporal, address));
      return `Temporal at ${address}, namespace ${namespace}`;
    }),
  ];
}

async function probe(check: string, ask: () => Promise<string>): Promise<Finding> {
  try {
    return passed(check, await ask());
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return failed(check, error.message, error.remedy ?? `parley explain ${error.code} tells more`);
  }
}
