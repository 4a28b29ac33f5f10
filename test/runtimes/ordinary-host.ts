/**
 * A host of an ordinary user: starts one sandbox, lets it take what it can, and prints how far it got.
 * Owns nothing: options come on standard input, one line of JSON goes to standard output.
 */
import { readFileSync } from 'node:fs';
import type { ProcessRuntimeOptions } from '../../runtimes/process/options.ts';
import { createProcessRuntime } from '../../runtimes/process/process-runtime.ts';
import { sandboxId } from '../../core/ids.ts';
import { realClock } from '../contract/real-clock.ts';
import { runInside } from '../contract/runtime-inside.ts';
import { ESCAPED } from '../escape/probe.ts';
import type { EscapeTargets } from '../escape/probe.ts';
import { SERVER_PROBES } from '../escape/server-probes.ts';

export interface OrdinaryResult {
  readonly uid: number;
  readonly limits: Readonly<Record<string, string>>;
  /** What each attempt printed. */
  readonly forks: string;
  readonly memory: string;
  readonly file: string;
  readonly environment: string;
  readonly settings: string;
  /** Attempts on the Agent Server that were not denied. */
  readonly reached: readonly string[];
}

const FORKS = `perl -e '$| = 1; my $n = 0; while ($n++ < 400) { my $p = fork; if (!defined $p) { print "at $n"; last } if (!$p) { sleep 9; exit } } print "ESCAPED" if $n > 400; kill 9, 0'`;
const MEMORY = `node -e "const a=[];for(let i=0;i<2048;i++)a.push(Buffer.alloc(1048576,1));console.log('ESCAPED')" 2>/dev/null`;

/** The scripts are after nothing of the host. */
async function reachedIn(sh: (command: string) => Promise<string>): Promise<readonly string[]> {
  const reached: string[] = [];
  for (const { name, script } of SERVER_PROBES)
    if ((await sh(script({} as EscapeTargets))).includes(ESCAPED)) reached.push(name);
  return reached;
}

async function main(): Promise<void> {
  const options = JSON.parse(readFileSync(0, 'utf8')) as Omit<ProcessRuntimeOptions, 'clock' | 'warn'>;
  const runtime = createProcessRuntime({ ...options, clock: realClock, warn: () => undefined });
  const request = {
    sandboxId: sandboxId('d'.repeat(32)),
    generation: 1,
    sessionKey: 'session-key-of-the-test',
    deadline: Date.now() + 20_000,
  };
  const call = { address: await runtime.start(request), sessionKey: request.sessionKey };
  const sh = async (command: string): Promise<string> => (await runInside(call, command)).stdout.trim();
  const result: OrdinaryResult = {
    uid: process.getuid?.() ?? -1,
    limits: runtime.capabilities.limits,
    forks: await sh(`setsid -w ${FORKS}`),
    memory: await sh(MEMORY),
    file: await sh('truncate -s 1T sparse 2>/dev/null && echo ESCAPED'),
    environment: await sh('cat /proc/$PPID/environ 2>/dev/null | tr -d "\\0"'),
    reached: await reachedIn(sh),
    settings: await sh('find /proc -path "/proc/[0-9]*" -prune -o -type f -writable -print 2>/dev/null'),
  };
  await runtime.destroy(request.sandboxId);
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

void main();
