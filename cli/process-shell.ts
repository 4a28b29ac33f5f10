/**
 * The shell of a real process: its streams, clock, signals and children.
 * Owns every touch of `process` besides main.ts; must not know a command.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Clock } from '../ports/clock.ts';
import type { HostPort } from '../host/host-port.ts';
import type { ChildProgram, Detached, InterruptSignal, Shell } from '../host/shell.ts';

const INTERRUPTS: readonly InterruptSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export function processShell(options: { readonly version: string; readonly programDir: string }): Shell {
  return {
    ...options,
    cwd: process.cwd(),
    env: process.env,
    stdout: process.stdout,
    stderr: process.stderr,
    clock,
    randomHex: (digits) =>
      randomBytes(Math.ceil(digits / 2))
        .toString('hex')
        .slice(0, digits),
    hostPort: () => loadHostPort(options.programDir),
    onInterrupt(listener) {
      for (const signal of INTERRUPTS) process.on(signal, listener);
      return () => {
        for (const signal of INTERRUPTS) process.off(signal, listener);
      };
    },
    openAddress: (address) => openAddress(address, { platform: process.platform, env: process.env }),
    runProgram: (program) => runProgram(options.programDir, program),
    startDetached,
  };
}

/** Timers longer than this overflow Node's; nothing a command waits for is. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const clock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  setTimer(at, fire) {
    const timer = setTimeout(fire, Math.min(Math.max(at - Date.now(), 0), TIMER_MS_MAX));
    return { cancel: () => clearTimeout(timer) };
  },
};

/** The module exports the functions of the port under their names; jobs are played beside it, on threads. */
async function loadHostPort(programDir: string): Promise<HostPort> {
  const [host, { createJobSimulator }] = await Promise.all([
    import('../host/host.ts'),
    import('./simulate/threaded-simulator.ts'),
  ]);
  const simulator = createJobSimulator(path.join(programDir, 'plan-player.js'));
  return { ...host, openHost: (config, options) => host.openHost(config, { simulator, ...options }) };
}

/** The file that Node was started with finds the built program, wherever it is called from. */
function startDetached({ args, logFile }: Parameters<Shell['startDetached']>[0]): Detached {
  mkdirSync(path.dirname(logFile), { recursive: true, mode: 0o700 });
  const log = openSync(logFile, 'a', 0o600);
  const program = [...process.execArgv, process.argv[1] ?? '', ...args];
  const child = spawn(process.execPath, program, { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.unref();
  return {
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve(code ?? 1));
    }),
  };
}

function runProgram(programDir: string, { file, args }: ChildProgram): Promise<number> {
  const child = spawn(process.execPath, [path.join(programDir, file), ...args], { stdio: 'inherit' });
  const forward = (signal: InterruptSignal): void => {
    child.kill(signal);
  };
  for (const signal of INTERRUPTS) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      for (const name of INTERRUPTS) process.off(name, forward);
      resolve(code ?? 128 + (signal === null ? 0 : os.constants.signals[signal]));
    });
  });
}

interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What opens it fails at once or never; a browser that stays is not waited for. */
const FAILS_WITHIN_MS = 2_000;

/** Null where there is no screen to read: in a CI, or without a display. */
export function openerOf({
  platform,
  env,
}: Surroundings): readonly [program: string, ...args: string[]] | null {
  if (env['CI']) return null;
  switch (platform) {
    case 'darwin':
      return ['open'];
    case 'win32':
      // `start` is a word of the shell, which would read the address; this is the program behind it.
      return ['rundll32.exe', 'url.dll,FileProtocolHandler'];
    default: {
      const hasScreen = ['DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME', 'BROWSER'].some(
        (name) => env[name],
      );
      return hasScreen ? ['xdg-open'] : null;
    }
  }
}

/** False when there is no such program, or when it says that it could not. */
export async function openAddress(address: string, around: Surroundings): Promise<boolean> {
  const opener = openerOf(around);
  if (opener === null) return false;
  const [program, ...args] = opener;
  const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore', env: around.env });
  child.unref();
  return await new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), FAILS_WITHIN_MS);
    const end = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.once('error', () => end(false));
    child.once('exit', (code) => end(code === 0));
  });
}
