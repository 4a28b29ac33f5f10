/**
 * Whether this host can separate sandboxes.
 * Owns the one trial run and the choice that follows from it.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { isolationArguments } from './bwrap-arguments.ts';
import { ISOLATION_PROBE_TIMEOUT_MS } from './limits.ts';
import type { ProcessRuntimeOptions } from './options.ts';

const NO_ISOLATION_WARNING =
  'Sandboxes run as plain processes: they isolate nothing. ' +
  'An agent can read and change whatever this user can, and reach the network';

export type Isolation = { readonly kind: 'namespaces'; readonly bwrap: string } | { readonly kind: 'none' };

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
  const problem = bwrap === null ? 'bubblewrap (bwrap) is not installed' : tryNamespaces(bwrap);
  if (bwrap !== null && problem === null) return { kind: 'namespaces', bwrap };
  if (options.isolation === 'namespaces') {
    throw new ParleyError('runtime_failed', `Cannot isolate sandboxes: ${problem}`);
  }
  options.warn(`${NO_ISOLATION_WARNING} (${problem})`);
  return { kind: 'none' };
}

/** Null when a namespace could be made, else why not. */
function tryNamespaces(bwrap: string): string | null {
  const result = spawnSync(bwrap, [...isolationArguments(), '--', '/usr/bin/true'], {
    encoding: 'utf8',
    env: {},
    timeout: ISOLATION_PROBE_TIMEOUT_MS,
  });
  if (result.status === 0) return null;
  const said = (result.stderr ?? '').trim().split('\n').at(-1) ?? '';
  return said === '' ? `bubblewrap ended with ${result.status ?? result.signal ?? 'no answer'}` : said;
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
