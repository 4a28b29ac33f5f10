/**
 * Which limits hold on this host, and how.
 * Owns the choice between control groups and limits of processes, and the table that is published about it.
 */
import type { LimitName, LimitStrength, SandboxLimits } from '../../ports/sandbox-runtime.ts';
import { findCgroups, type CgroupHome } from './cgroups/find-cgroups.ts';
import type { Isolation } from './isolation.ts';
import { DEFAULT_LIMITS } from '../on-host/limits.ts';
import type { ProcessRuntimeOptions } from './options.ts';

/** The kernel bounds the processes of everybody but root, and with namespaces it counts each sandbox by itself. */
const ROOT_UID = 0;
const BLOCK_BYTES = 512;
const KIBIBYTE = 1024;

export interface ResourceLimits {
  readonly bounds: SandboxLimits;
  /** Null: no control group can be made. */
  readonly groups: CgroupHome | null;
  readonly strengths: Readonly<Record<LimitName, LimitStrength>>;
}

export function chooseLimits(options: ProcessRuntimeOptions, isolation: Isolation): ResourceLimits {
  const bounds = { ...DEFAULT_LIMITS, ...options.limits };
  const groups = options.controlGroups === 'none' ? null : findCgroups();
  return { bounds, groups, strengths: limitStrengths(isolation, groups) };
}

/** How each limit holds on this host, with the groups that can be made. */
export function limitStrengths(
  isolation: Isolation,
  groups: CgroupHome | null = findCgroups(),
): ResourceLimits['strengths'] {
  const { memory, pids, cpu } = groups?.parents ?? {};
  const isCounted =
    isolation.kind === 'namespaces' && (isolation.ownUsers || process.getuid?.() !== ROOT_UID);
  return {
    memory: memory !== undefined ? 'sandbox' : process.platform === 'linux' ? 'process' : 'none',
    processes: pids !== undefined || isCounted ? 'sandbox' : 'none',
    cpu: cpu !== undefined ? 'sandbox' : 'none',
    fileSize: 'process',
    workspace: 'watched',
  };
}

/** For the launch script: the largest file, and the largest data segment where no control group bounds memory. */
export function launchLimits({ bounds, strengths }: ResourceLimits): readonly [string, string] {
  const file = bounds.fileBytes === null ? '' : String(Math.ceil(bounds.fileBytes / BLOCK_BYTES));
  const isPerProcess = strengths.memory === 'process' && bounds.memoryBytes !== null;
  return [file, isPerProcess ? String(Math.ceil((bounds.memoryBytes ?? 0) / KIBIBYTE)) : ''];
}

/**
 * What the first program is started through, inside, where the number of processes is bounded by the kernel's count per
 * user and namespace: that count begins anew inside. Shells name the option differently.
 */
export function processCountPrefix({ bounds, groups, strengths }: ResourceLimits): readonly string[] {
  const isByGroup = groups?.parents.pids !== undefined;
  if (isByGroup || strengths.processes !== 'sandbox' || bounds.processes === null) return [];
  const script = `if [ -n "\${BASH_VERSION-}" ]; then ulimit -u ${bounds.processes}; else ulimit -p ${bounds.processes}; fi; exec "$@"`;
  return ['/bin/sh', '-c', script, 'sh'];
}
