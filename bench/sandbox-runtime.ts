/**
 * A runtime over the programs as they were built, in a folder of its own.
 * Owns the layout of that folder; what its sandboxes are put through is for others to say.
 */
import path from 'node:path';
import { systemClock } from '../engine/system-clock.ts';
import type { SandboxRuntime } from '../ports/sandbox-runtime.ts';
import { createDockerRuntime } from '../runtimes/docker/docker-runtime.ts';
import type { ProcessRuntimeOptions } from '../runtimes/process/options.ts';
import { createProcessRuntime } from '../runtimes/process/process-runtime.ts';

export const PROGRAMS = {
  agentServer: path.resolve('dist/agent-server.cjs'),
  sandboxInit: path.resolve('dist/sandbox-init.cjs'),
};

type RuntimeChoice = Partial<Pick<ProcessRuntimeOptions, 'isolation' | 'limits' | 'diskLookMs' | 'warn'>> & {
  /** Of the daemon that has the sandboxes; absent or empty: they are processes. */
  readonly daemonSocket?: string;
};

export function runtimeIn(dir: string, choice: RuntimeChoice = {}): SandboxRuntime {
  const { daemonSocket = '', isolation = 'auto', ...rest } = choice;
  const socket = (name: string): string => path.join(dir, 'h', name, 'x.sock');
  const common = {
    dataDir: path.join(dir, 'data'),
    socketDir: path.join(dir, 's'),
    programs: PROGRAMS,
    hostSockets: { proxy: socket('p'), webhook: socket('w'), git: socket('g') },
    clock: systemClock,
    warn: () => undefined,
    splitsTools: true,
    ...rest,
  };
  return daemonSocket === ''
    ? createProcessRuntime({ ...common, isolation })
    : createDockerRuntime({ ...common, daemonSocket, image: 'host' });
}
