/**
 * One fresh server that skips time.
 * Owns its life: it is killed by its process id, whatever state it is in and however a play on it ends.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { registerSearchAttributes } from '../../temporal/search-attributes.ts';

export interface SkippingServer {
  readonly env: TestWorkflowEnvironment;
  /** Of the server's process. */
  readonly pid: number;
  stop(): Promise<void>;
  /**
   * Kills it, and leaves the connections to it as they are: the client tries a call again that is under way, and throws
   * from a timer where its connection was closed meanwhile.
   */
  abandon(): void;
}

/** How long its own end may take before it is killed. */
const TEARDOWN_MS = 3_000;

/** A server that does not answer within the five seconds that the SDK gives it is started again: the machine is busy. */
const STARTS_MAX = 6;

/** `program` takes a port as its only argument. */
export async function startSkippingServer(program: string): Promise<SkippingServer> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await tryToStart(program);
    } catch (error) {
      if (tried >= STARTS_MAX) throw error;
    }
  }
}

async function tryToStart(testServer: string): Promise<SkippingServer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-skipping-'));
  const pidFile = path.join(folder, 'pid');
  const program = path.join(folder, 'server');
  // The process that is started becomes the server, so that its id is known.
  writeFileSync(program, `#!/bin/sh\necho $$ > '${pidFile}'\nexec '${testServer}' "$@" 2>/dev/null\n`);
  chmodSync(program, 0o755);
  const kill = (): void => {
    killBy(pidFile);
    rmSync(folder, { recursive: true, force: true });
  };
  const abandon = (): void => {
    kill();
    process.off('exit', kill);
  };
  // It outlives a parent that ends without a word.
  process.once('exit', kill);
  const executable = { type: 'existing-path', path: program } as const;
  const env = await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } }).catch(
    (error: unknown) => {
      abandon();
      throw error;
    },
  );
  await registerSearchAttributes(env.connection, env.namespace ?? 'default');
  return {
    env,
    pid: Number(readFileSync(pidFile, 'utf8')),
    async stop() {
      const late = new Promise((resolve) => setTimeout(resolve, TEARDOWN_MS).unref());
      await Promise.race([env.teardown().catch(() => undefined), late]);
      abandon();
    },
    abandon,
  };
}

function killBy(pidFile: string): void {
  if (!existsSync(pidFile)) return;
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
