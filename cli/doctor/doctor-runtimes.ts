/**
 * Which runtimes work on this machine, how far each one separates, and which limits hold.
 * Owns the findings about sandboxes; must not start one.
 */
import { asParleyError } from '../../core/parley-error.ts';
import { programFolder } from '../../host/sandboxes/places.ts';
import type { LimitName, LimitStrength } from '../../ports/sandbox-runtime.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import { remedyOfMissing } from '../missing-part.ts';
import { checkKubernetes, toolsWords } from './doctor-kubernetes.ts';
import type { Isolation } from '../../runtimes/process/isolation.ts';
import { failed, type Finding, passed, warned } from '../../host/finding.ts';

const LIMIT_WORDS: Readonly<Record<LimitStrength, string>> = {
  sandbox: 'per sandbox',
  process: 'per process',
  watched: 'watched',
  none: 'none',
};

export async function checkSandboxes(config: DeploymentConfig): Promise<readonly Finding[]> {
  const { chooseIsolation } = await import('../../runtimes/process/isolation.ts');
  const { limitStrengths } = await import('../../runtimes/process/resource-limits.ts');
  const [docker, kubernetes] = await Promise.all([checkDocker(config), checkKubernetes(config)]);
  // What processes could do says nothing about containers.
  if (config.runtimeKind !== 'process') return [docker, kubernetes, egressFinding(config, true)];
  const warnings: string[] = [];
  const isolation = chooseIsolation({
    isolation: config.isolation === 'none' ? 'none' : 'auto',
    splitsTools: config.agent.kind === 'reference',
    warn: (text) => warnings.push(text),
  });
  const strengths = limitStrengths(isolation);
  return [
    isolationFinding(config, { kind: isolation.kind, isApart: areToolsApart(isolation), warnings }),
    limitsFinding(strengths),
    egressFinding(config, isolation.kind === 'namespaces'),
    docker,
    kubernetes,
  ];
}

interface Trial {
  readonly kind: 'namespaces' | 'none';
  /** Whether tools have a place of their own, out of which they do not reach their Agent Server. */
  readonly isApart: boolean;
  readonly warnings: readonly string[];
}

function areToolsApart(isolation: Isolation): boolean {
  return isolation.kind === 'namespaces' && isolation.seals.nests;
}

function isolationFinding({ isolation }: DeploymentConfig, { kind, isApart, warnings }: Trial): Finding {
  const check = 'isolation';
  if (isolation === 'none')
    return warned(check, 'none is configured', 'set runtime.isolation to "auto" or "namespaces"');
  const detail = warnings.join(' ');
  if (kind === 'namespaces') {
    const tools = isApart
      ? ', and their tools from their Agent Server'
      : '; tools are beside their Agent Server';
    const works = `bubblewrap separates sandboxes${tools}`;
    if (detail === '') return passed(check, `${works}, with a system call filter`);
    return warned(check, `${works}. ${detail}`, 'run on x64 or arm64');
  }
  const remedy = 'install bubblewrap (bwrap) and allow unprivileged user namespaces';
  return (isolation === 'namespaces' ? failed : warned)(check, detail, remedy);
}

/** A memory that is only bounded per process is no bound for a sandbox with many. */
function limitsFinding(strengths: Readonly<Record<LimitName, LimitStrength>>): Finding {
  const detail = Object.entries(strengths)
    .map(([name, strength]) => `${name} ${LIMIT_WORDS[strength]}`)
    .join(', ');
  if (strengths.memory === 'sandbox' && strengths.processes === 'sandbox') return passed('limits', detail);
  const remedy = 'let Parley make control groups: run it as root, or as a service with Delegate=yes';
  return warned('limits', detail, remedy);
}

/** `isSeparate` is what sandboxes are here, and not what is configured: `auto` may have come down to plain processes. */
function egressFinding({ egressAllow }: DeploymentConfig, isSeparate: boolean): Finding {
  const hosts = egressAllow.length === 1 ? '1 rule' : `${egressAllow.length} rules`;
  const detail =
    egressAllow.length === 0 ? 'sandboxes reach the proxy and Git only' : `allow-list of ${hosts}`;
  if (isSeparate) return passed('egress', detail);
  return warned('egress', 'plain processes reach whatever this host reaches', 'use namespaces');
}

/** The first daemon that lets a filter say that a call is not there; before it, programs of today do not start. */
const VERSION_MIN = [20, 10, 10] as const;
/** What the daemon must be able to bound, in its own words. */
const BOUNDS = { MemoryLimit: 'memory', PidsLimit: 'processes', CpuCfsQuota: 'processor time' } as const;

/** A daemon that is missing is a failure only where it was chosen. */
export async function checkDocker({ docker, runtimeKind, agent }: DeploymentConfig): Promise<Finding> {
  const isChosen = runtimeKind === 'docker';
  try {
    return await ask(docker.socket, isChosen ? toolsWords(agent.kind === 'reference') : null);
  } catch (error) {
    const told = asParleyError(error);
    const { message: reason } = told;
    const remedy = remedyOfMissing(told, programFolder) ?? told.remedy;
    if (!isChosen) return passed('docker', `not chosen, and not available: ${reason}`);
    return failed('docker', reason, remedy ?? 'start Docker, or set runtime.kind to "process"');
  }
}

/** `chosenWords` null: Docker is not chosen. */
async function ask(socket: string, chosenWords: string | null): Promise<Finding> {
  const { dockerDaemon } = await import('../../runtimes/docker/docker-daemon.ts');
  const daemon = dockerDaemon(socket);
  const info = (await daemon.ask('ask Docker what it can do', (api) => api.info())) as Readonly<
    Record<string, unknown>
  >;
  const version = String(info['ServerVersion'] ?? '');
  const works = `Docker ${version}, storage ${String(info['Driver'] ?? 'unknown')}`;
  const detail = `${works}; ${chosenWords ?? 'not chosen'}`;
  if (isOlder(version)) {
    const remedy = `install Docker ${VERSION_MIN.join('.')} or newer`;
    return (chosenWords === null ? warned : failed)('docker', detail, remedy);
  }
  const unbound = Object.entries(BOUNDS).flatMap(([field, what]) => (info[field] === false ? [what] : []));
  if (unbound.length === 0) return passed('docker', detail);
  const remedy = 'give the daemon control groups: run it as root, or delegate them to its user';
  return warned('docker', `${detail}; it cannot bound ${unbound.join(', ')}`, remedy);
}

function isOlder(version: string): boolean {
  const parts = version.split(/[.+~-]/).map(Number);
  for (const [index, wanted] of VERSION_MIN.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part < wanted;
  }
  return false;
}
