/**
 * A host that starts one sandbox and dies at once, as in a power cut of the orchestrator.
 * Owns nothing: options and request come on standard input, "started" goes to standard output.
 */
import { readFileSync, writeSync } from 'node:fs';
import type { StartSandboxRequest } from '../../ports/sandbox-runtime.ts';
import type { ProcessRuntimeOptions } from '../../runtimes/process/options.ts';
import { createProcessRuntime } from '../../runtimes/process/process-runtime.ts';
import { realClock } from '../contract/real-clock.ts';

/** What comes on standard input, as JSON. */
export interface StartingHostInput {
  readonly options: Omit<ProcessRuntimeOptions, 'clock' | 'warn'>;
  readonly request: StartSandboxRequest;
}

const { options, request } = JSON.parse(readFileSync(0, 'utf8')) as StartingHostInput;
const runtime = createProcessRuntime({ ...options, clock: realClock, warn: () => undefined });
void runtime.start(request).then(() => {
  writeSync(1, 'started\n');
  process.kill(process.pid, 'SIGKILL');
});
