/**
 * A server that skips time, its clock, and one connection to it: a fresh one for each thing that is played on it.
 * Owns the reading of its clock; its life is the product's.
 */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { installRuntime } from '../../host/engines/temporal-log.ts';
import type { Clock } from '../../ports/clock.ts';
import { testServerMissing, testServerProgram } from '../../scripts/temporal-tools.js';
import { startSkippingServer } from '../../testing/temporal/skipping-server.ts';
import type { Ground } from './ground.ts';

/** This server does not keep the memory of a failed try; no poll here has a memory that matters. */
const EXPECTED_NOTICE = 'activity_failure_include_heartbeat';

export interface SkippingGround extends Ground {
  /** The server's clock at the last `readClock`. */
  readonly clock: Clock;
  /** Queries the server. */
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
  const server = await startSkippingServer(testServerProgram(process.env));
  try {
    return await use(groundOf(server.env));
  } finally {
    await server.stop();
  }
}

function groundOf(env: TestWorkflowEnvironment): SkippingGround {
  let now = 0;
  const readClock = async (): Promise<number> => (now = await env.currentTimeMs());
  const clock: Clock = {
    now: () => now,
    steady: () => now,
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
