/**
 * What a machine must have for a run, one check each, with what to do when it has not.
 * Owns the probes; must not change anything but try whether a folder can be written.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type { DeploymentConfig } from './config/deployment-config.ts';
import type { LoadedDeployment } from './config/load-deployment.ts';
import { checkEngine } from './doctor-engine.ts';
import { checkSandboxes } from './doctor-runtimes.ts';
import type { Finding } from './doctor-finding.ts';
import type { Shell } from './shell.ts';

/** The oldest Node that every dependency runs on. */
const NODE_MIN = [20, 19] as const;
/** A program that does not say its version in this time does not work. */
const PROBE_MS = 10_000;

export async function runChecks(shell: Shell, loaded: LoadedDeployment): Promise<readonly Finding[]> {
  const { config } = loaded;
  const always = [checkNode(), checkGit(), ...checkPrograms(shell), ...checkConfig(loaded)];
  if (config === null) return always;
  return [
    ...always,
    checkFolder('data directory', config.dataDir),
    checkFolder('results', config.resultsDir),
    ...(await checkSandboxes(config)),
    checkModels(config),
    ...(await checkPort(config)),
    ...(await checkEngine(config)),
  ];
}

const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail, remedy: null });
const failed = (check: string, detail: string, remedy: string): Finding => ({
  check,
  status: 'failed',
  detail,
  remedy,
});
const warning = (check: string, detail: string, remedy: string): Finding => ({
  check,
  status: 'warning',
  detail,
  remedy,
});

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isRecent = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  const detail = process.versions.node;
  return isRecent
    ? ok('node', detail)
    : failed('node', detail, `install Node ${NODE_MIN.join('.')} or newer`);
}

function checkGit(): Finding {
  const result = spawnSync('git', ['--version'], { encoding: 'utf8', timeout: PROBE_MS });
  if (result.status === 0) return ok('git', result.stdout.trim());
  return failed('git', 'not found', 'install Git and put it on the search path');
}

function checkPrograms({ programDir }: Shell): Finding[] {
  const missing = ['agent-server.cjs', 'sandbox-init.cjs'].filter(
    (file) => !existsSync(path.join(programDir, file)),
  );
  if (missing.length === 0) return [ok('programs', 'built')];
  return [failed('programs', `missing: ${missing.join(', ')}`, 'build them with "npm run build"')];
}

function checkConfig({ problems, file }: LoadedDeployment): Finding[] {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return [ok('configuration', file === null ? 'defaults' : file.shown)];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return [
    failed('configuration', `${first.message}${more}`, first.remedy ?? 'look with "parley config check"'),
  ];
}

/** The nearest folder that exists must be writable: the rest is made when it is needed. */
function checkFolder(check: string, folder: string): Finding {
  let existing = folder;
  while (!existsSync(existing) && path.dirname(existing) !== existing) existing = path.dirname(existing);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    return ok(check, folder);
  } catch {
    return failed(
      check,
      `"${existing}" cannot be written`,
      'change its owner, or name another path in parley.yaml',
    );
  }
}

function checkModels({ proxyConfigRaw }: DeploymentConfig): Finding {
  const list = (proxyConfigRaw as { readonly model_list?: unknown } | undefined)?.model_list;
  if (Array.isArray(list) && list.length > 0) return ok('models', `${list.length} listed`);
  return warning(
    'models',
    'the proxy lists none, so no agent can work',
    'list one under proxy_config.model_list',
  );
}

async function checkPort({ proxyPort }: DeploymentConfig): Promise<Finding[]> {
  if (proxyPort === null) return [];
  const isFree = await new Promise<boolean>((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(proxyPort, '127.0.0.1', () => server.close(() => resolve(true)));
  });
  const detail = `proxy port ${proxyPort}`;
  if (isFree) return [ok('port', `${detail} is free`)];
  return [failed('port', `${detail} is taken`, 'choose another proxy.port, or stop the engine that has it')];
}
