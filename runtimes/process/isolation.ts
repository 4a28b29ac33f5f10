/**
 * Whether this host can separate sandboxes.
 * Owns the one trial run and the choice that follows from it.
 */
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { isolationArguments, type Seals } from './bwrap-arguments.ts';
import { ISOLATION_PROBE_TIMEOUT_MS } from '../on-host/limits.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import { SYSTEM_PATH } from '../on-host/inside-view.ts';
import { sandboxFilter, type FilteredPart } from '../on-host/seccomp/sandbox-filter.ts';
import { TRIAL_USER } from './user-claims.ts';
import { createStage } from './staging.ts';

/** The place of tools as agent/toolbox.ts makes it, as far as a kernel could refuse it. */
const NESTED = [
  ...['--unshare-user', '--unshare-pid', '--dev-bind', '/', '/', '--proc', '/proc', '--tmpfs', '/home'],
  ...['--cap-drop', 'ALL', '--seccomp', '5', '--'],
];

const NO_ISOLATION_WARNING =
  'Sandboxes run as plain processes: they isolate nothing. ' +
  'An agent can read and change whatever this user can, and reach the network';

/** How sandboxes are kept apart on this host. */
export type Isolation =
  | {
      readonly kind: 'namespaces';
      readonly bwrap: string;
      readonly seals: Seals;
      /** Whether each sandbox belongs to a user of its own on the host. */
      readonly ownUsers: boolean;
    }
  | { readonly kind: 'none' };

const NO_FILTER_WARNING = `Sandboxes have no system call filter: there is none for the processor "${process.arch}"`;

/**
 * Decides once, when the runtime is made.
 * @throws ParleyError runtime_failed: `namespaces` was asked for and does not work here
 */
export function chooseIsolation(
  options: Pick<ProcessRuntimeOptions, 'isolation' | 'splitsTools' | 'warn'>,
): Isolation {
  if (options.isolation === 'none') {
    options.warn(NO_ISOLATION_WARNING);
    return { kind: 'none' };
  }
  const bwrap = findProgram('bwrap');
  const trial = bwrap === null ? 'bubblewrap (bwrap) is not installed' : sealsOf(bwrap);
  if (bwrap !== null && typeof trial !== 'string') {
    if (!trial.filters) options.warn(NO_FILTER_WARNING);
    return { kind: 'namespaces', bwrap, ...strengthened(bwrap, trial, options.splitsTools === true) };
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
  const strong = { disablesUserns: true, filters, nests: false };
  const problem = tryNamespaces(bwrap, strong);
  if (problem === null) return strong;
  // Before 0.8 the option is unknown; then the filter alone forbids further user namespaces, and must be there.
  if (!problem.includes('--disable-userns') || !filters) return problem;
  const weak = { disablesUserns: false, filters, nests: false };
  return tryNamespaces(bwrap, weak) ?? weak;
}

const ROOT = 0;

/**
 * What goes beyond that, as far as it works: a user of its own for each sandbox that root starts, and a place of their
 * own for its tools. Root itself cannot make that place, because the kernel's settings are covered for it.
 */
function strengthened(
  bwrap: string,
  seals: Seals,
  splitsTools: boolean,
): { readonly seals: Seals; readonly ownUsers: boolean } {
  const isRoot = process.getuid?.() === ROOT;
  const ownUsers =
    isRoot && findProgram('flock') !== null && tryNamespaces(bwrap, seals, { ownUser: true }) === null;
  const nesting = { ...seals, nests: true };
  // Below /usr it is inside as well; and without a filter nothing forbids tools to make namespaces.
  const mayNest = splitsTools && seals.filters && ownUsers === isRoot && isBelowUsr(bwrap);
  const nests = mayNest && tryNamespaces(bwrap, nesting, { ownUser: ownUsers }) === null;
  return { seals: nests ? nesting : seals, ownUsers };
}

function isBelowUsr(program: string): boolean {
  return realpathSync(program).startsWith('/usr/');
}

/** Null when a namespace could be made, else why not. */
function tryNamespaces(bwrap: string, seals: Seals, { ownUser } = { ownUser: false }): string | null {
  const filter = filterDescriptor(seals.filters, seals.nests ? 'server' : 'tools');
  const inner = filterDescriptor(seals.nests, 'tools');
  const below = seals.nests ? [realpathSync(bwrap), ...NESTED] : [];
  const command = [bwrap, ...isolationArguments(seals), '--', ...below, '/usr/bin/true'];
  const [program = '', ...args] = ownUser
    ? createStage([]).command(TRIAL_USER, '/dev/null', command)
    : command;
  const result = spawnSync(program, args, {
    encoding: 'utf8',
    env: ownUser ? { PATH: SYSTEM_PATH } : {},
    stdio: ['ignore', 'pipe', 'pipe', 'ignore', filter ?? 'ignore', inner ?? 'ignore'],
    timeout: ISOLATION_PROBE_TIMEOUT_MS,
  });
  for (const descriptor of [filter, inner]) if (descriptor !== null) closeSync(descriptor);
  if (result.status === 0) return null;
  const said = (result.stderr ?? '').trim().split('\n').at(-1) ?? '';
  return said === '' ? `bubblewrap ended with ${result.status ?? result.signal ?? 'no answer'}` : said;
}

/** A filter in a file without a name, open for reading. */
function filterDescriptor(isWanted: boolean, part: FilteredPart): number | null {
  const bytes = sandboxFilter(process.arch, part);
  if (!isWanted || bytes === null) return null;
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
