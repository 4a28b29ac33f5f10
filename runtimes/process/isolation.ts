/**
 * Whether this host can separate sandboxes.
 * Owns the one trial run and the choice that follows from it.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { isolationArguments } from './bwrap-arguments.ts';
import type { Seals } from './bwrap-arguments.ts';
import { ISOLATION_PROBE_TIMEOUT_MS } from '../on-host/limits.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import { sandboxFilter } from '../on-host/seccomp/sandbox-filter.ts';

const NO_ISOLATION_WARNING =
  'Sandboxes run as plain processes: they isolate nothing. ' +
  'An agent can read and change whatever this user can, and reach the network';

export type Isolation =
  { readonly kind: 'namespaces'; readonly bwrap: string; readonly seals: Seals } | { readonly kind: 'none' };

const NO_FILTER_WARNING = `Sandboxes have no system call filter: there is none for the processor "${process.arch}"`;

/**
 * Decides once, when the runtime is made.
 * @throws ParleyError runtime_failed: `namespaces` was asked for and does not work here
 */
export function chooseIsolation(options: Pick<ProcessRuntimeOptions, 'isolation' | 'warn'>): Isolation {
  if (options.isolation === 'none') {
    options.warn(NO_ISOLATION_WARNING);
    return { kind: 'none' };
  }
  const bwrap = findProgram('bwrap');
  const trial = bwrap === null ? 'bubblewrap (bwrap) is not installed' : sealsOf(bwrap);
  if (bwrap !== null && typeof trial !== 'string') {
    if (!trial.filters) options.warn(NO_FILTER_WARNING);
    return { kind: 'namespaces', bwrap, seals: trial };
  }
  const problem = String(trial);
  if (options.isolation === 'namespaces') {
    throw new ParleyError('runtime_failed', `Cannot isolate sandboxes: ${problem}`, {
      remedy: 'install bubblewrap, or accept that nothing is separated with runtime.isolation: none',
    });
  }
  options.warn(`${NO_ISOLATION_WARNING} (${problem})`);
  return { kind: 'none' };
}

/** The seals a namespace could be made with, the strongest that work; else why none could be made. */
function sealsOf(bwrap: string): Seals | string {
  const filters = sandboxFilter(process.arch) !== null;
  const strong = { disablesUserns: true, filters };
  const problem = tryNamespaces(bwrap, strong);
  if (problem === null) return strong;
  // Before 0.8 the option is unknown; then the filter alone forbids further user namespaces, and must be there.
  if (!problem.includes('--disable-userns') || !filters) return problem;
  const weak = { disablesUserns: false, filters };
  return tryNamespaces(bwrap, weak) ?? weak;
}

/** Null when a namespace could be made, else why not. */
function tryNamespaces(bwrap: string, seals: Seals): string | null {
  const filter = filterDescriptor(seals);
  const result = spawnSync(bwrap, [...isolationArguments(seals), '--', '/usr/bin/true'], {
    encoding: 'utf8',
    env: {},
    stdio: ['ignore', 'pipe', 'pipe', 'ignore', filter ?? 'ignore'],
    timeout: ISOLATION_PROBE_TIMEOUT_MS,
  });
  if (filter !== null) closeSync(filter);
  if (result.status === 0) return null;
  const said = (result.stderr ?? '').trim().split('\n').at(-1) ?? '';
  return said === '' ? `bubblewrap ended with ${result.status ?? result.signal ?? 'no answer'}` : said;
}

/** The filter in a file without a name, open for reading. */
function filterDescriptor({ filters }: Seals): number | null {
  const bytes = sandboxFilter(process.arch);
  if (!filters || bytes === null) return null;
  const dir = mkdtempSync(join(tmpdir(), 'parley-filter-'));
  try {
    const file = join(dir, 'filter');
    writeFileSync(file, bytes);
    return openSync(file, 'r');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The absolute path of a program on the search path of this process. */
function findProgram(name: string): string | null {
  for (const dir of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(dir, name);
    try {
      accessSync(path, constants.X_OK);
      if (dir !== '') return path;
    } catch {
      // Not in this directory.
    }
  }
  return null;
}
