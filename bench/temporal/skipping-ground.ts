/**
 * A server that skips time, its clock, and one connection to it: a fresh one for each thing that is played on it.
 * Owns its life and the reading of its clock; it is ended by its process id.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { installRuntime } from '../../cli/host/temporal-log.ts';
import type { Clock } from '../../ports/clock.ts';
import { testServerMissing, testServerProgram } from '../../scripts/temporal-tools.js';
import { registerSearchAttributes } from '../../temporal/search-attributes.ts';
import { NAMESPACE, type Ground } from './ground.ts';

/** A server whose tasks are pending holds its clock and does not end by itself. */
const TEARDOWN_MS_MAX = 3_000;
/** This server does not keep what a failed try remembered; a look here remembers nothing that counts. */
const EXPECTED_NOTICE = 'activity_failure_include_heartbeat';

export interface SkippingGround extends Ground {
  /** As the server's clock was when it was last asked. */
  readonly clock: Clock;
  /** Asks the server. */
  readClock(): Promise<number>;
  /** Lets so much time pass on the server. */
  skip(ms: number): Promise<void>;
}

/** Null when time can be skipped here, else why not. */
export function cannotSkip(): string | null {
  const missing = testServerMissing(process.env);
  return missing === null ? null : `${missing}; "node scripts/temporal-tools.js" installs it`;
}

export async function onSkippingServer<Value>(
  use: (ground: SkippingGround) => Promise<Value>,
): Promise<Value> {
  installRuntime({
    onNotice: (text) => {
      if (!text.includes(EXPECTED_NOTICE)) process.stderr.write(`${text}\n`);
    },
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-bench-skipping-'));
  const pidFile = path.join(folder, 'pid');
  const end = (): void => {
    endProcess(pidFile);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', end);
  try {
    const env = await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: namedProgram(folder, pidFile) } },
    });
    try {
      await registerSearchAttributes(env.connection, NAMESPACE);
      return await use(groundOf(env));
    } finally {
      const late = new Promise((resolve) => setTimeout(resolve, TEARDOWN_MS_MAX).unref());
      await Promise.race([env.teardown().catch(() => undefined), late]);
    }
  } finally {
    end();
    process.off('exit', end);
  }
}

/** Starts the server in its own place, so that its process id is known. */
function namedProgram(folder: string, pidFile: string): string {
  const program = path.join(folder, 'server');
  const script = `#!/bin/sh\necho $$ > '${pidFile}'\nexec '${testServerProgram(process.env)}' "$@" 2>/dev/null\n`;
  writeFileSync(program, script);
  chmodSync(program, 0o755);
  return program;
}

function endProcess(pidFile: string): void {
  if (!existsSync(pidFile)) return;
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

function groundOf(env: TestWorkflowEnvironment): SkippingGround {
  let now = 0;
  const readClock = async (): Promise<number> => (now = await env.currentTimeMs());
  const clock: Clock = {
    now: () => now,
    setTimer: () => {
      throw new Error('Cannot arm a timer: time leaps, and only workflows hear of it');
    },
  };
  return {
    connection: env.nativeConnection,
    client: env.client.workflow,
    clock,
    readClock,
    async skip(ms) {
      await env.sleep(ms);
      await readClock();
    },
  };
}
