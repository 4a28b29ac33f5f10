/**
 * The first program of ours inside a sandbox: opens the bridges to the host, starts the agent server, keeps its log
 * bounded, passes signals on and ends with it. A program of its own, bundled to one file; imports nothing of the host's.
 * Orphans are reaped by bubblewrap's own process 1: Node.js waits only for children it started itself.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { KEY_DESCRIPTOR, becomeAgent, takeText } from './agent-role.ts';
import { otherUserArguments, parseInitArguments, type InitArguments } from './arguments.ts';
import { openBridge, openEntrance } from './bridge.ts';
import { createBoundedLog } from './bounded-log.ts';
import { loadObject } from './guard.ts';
import { openDoors, takeOn } from './other-user.ts';

/** Exit code when the agent server was never started. */
const SETUP_FAILED = 70;
/** Where the host leaves the session key; see launch.ts of the host's side. */
const HOST_KEY_DESCRIPTOR = 5;
const FORWARDED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

async function main(): Promise<void> {
  const parsed = parseInitArguments(process.argv.slice(2));
  const { role, bridges, entrance, guard, otherUser, logBytesMax } = parsed;
  if (role === 'agent') {
    becomeAgent(parsed);
    return;
  }
  if (otherUser !== null) openDoors(otherUser);
  if (guard !== null) loadObject(guard);
  // A shell that passes it ends it with a line break.
  const sessionKey = takeText(HOST_KEY_DESCRIPTOR).replace(/\n$/, '');
  // The process that should pass it is gone: without a key no client could ever call the agent.
  if (sessionKey === '') throw new Error('no session key came');
  const log = createBoundedLog(1, logBytesMax);
  await Promise.all([...bridges.map(openBridge), ...(entrance === null ? [] : [openEntrance(entrance)])]);
  const child = startAgent(parsed, sessionKey);
  // Not before: the second process begins with the rights that go with it. The sockets of the host are connected later.
  if (otherUser !== null) takeOn(otherUser);
  child.stdout?.on('data', log);
  child.stderr?.on('data', log);
  forwardSignals(child);
  process.exitCode = await exitCode(child, log);
  process.exit();
}

/** This program again, in its other role: it takes the key before the agent server sees anything. */
function startAgent({ guard, otherUser, agentServer }: InitArguments, sessionKey: string): ChildProcess {
  const own = process.argv[1] ?? '';
  const guarded = [
    ...(guard === null ? [] : ['--guard', guard]),
    ...(otherUser === null ? [] : otherUserArguments(otherUser)),
  ];
  const stdio: ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'pipe'];
  stdio[KEY_DESCRIPTOR] = 'pipe';
  const child = spawn(process.execPath, [own, '--agent', ...guarded, '--', agentServer], { stdio });
  const key = child.stdio[KEY_DESCRIPTOR] as Writable;
  // An agent that died before it read its key shows in its exit.
  key.on('error', () => undefined);
  key.end(sessionKey);
  return child;
}

function forwardSignals(child: ChildProcess): void {
  for (const signal of FORWARDED_SIGNALS) process.on(signal, () => child.kill(signal));
}

/** A shell's convention: 128 plus the number of the signal that ended it. */
function exitCode(child: ChildProcess, log: (chunk: Uint8Array) => void): Promise<number> {
  return new Promise((resolve) => {
    child.on('error', (error) => {
      log(Buffer.from(`Cannot start agent server: ${error.message}\n`));
      resolve(SETUP_FAILED);
    });
    child.on('exit', (code, signal) => {
      // A process left behind may hold the pipes open: what was printed until now has to do.
      setImmediate(() => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
    });
  });
}

// A failing write to standard error must not take the exit code with it.
process.stderr.on('error', () => undefined);
main().catch((error: unknown) => {
  process.stderr.write(`Cannot start sandbox: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(SETUP_FAILED);
});
