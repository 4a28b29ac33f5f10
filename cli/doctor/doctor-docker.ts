/**
 * Whether sandboxes could be containers on this machine.
 * Owns the finding about Docker; asks the daemon, and makes nothing.
 */
import { asParleyError } from '../../core/parley-error.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import { toolsWords } from './doctor-tools.ts';
import type { Finding } from '../../host/finding.ts';
import { programFolder } from '../../host/sandboxes/places.ts';
import { remedyOfMissing } from '../missing-part.ts';

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
    if (!isChosen) return finding('ok', `not chosen, and not available: ${reason}`, null);
    return finding('failed', reason, remedy ?? 'start Docker, or set runtime.kind to "process"');
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
  const isChosen = chosenWords !== null;
  const detail = `${works}; ${chosenWords ?? 'not chosen'}`;
  if (isOlder(version)) {
    const status = isChosen ? 'failed' : 'warning';
    return finding(status, detail, `install Docker ${VERSION_MIN.join('.')} or newer`);
  }
  const unbound = Object.entries(BOUNDS).flatMap(([field, what]) => (info[field] === false ? [what] : []));
  if (unbound.length === 0) return finding('ok', detail, null);
  const remedy = 'give the daemon control groups: run it as root, or delegate them to its user';
  return finding('warning', `${detail}; it cannot bound ${unbound.join(', ')}`, remedy);
}

function isOlder(version: string): boolean {
  const parts = version.split(/[.+~-]/).map(Number);
  for (const [index, wanted] of VERSION_MIN.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part < wanted;
  }
  return false;
}

function finding(status: Finding['status'], detail: string, remedy: string | null): Finding {
  return { check: 'docker', status, detail, remedy };
}
