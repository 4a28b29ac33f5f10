/**
 * What `parley status RUN --json` says, as a value.
 * Owns the call and the shape the tests rely on.
 */
import type { BatchCopy } from './batch-copy.ts';
import { runProgram } from './running-program.ts';

export interface RunStatus {
  readonly run: Readonly<Record<string, unknown>>;
  readonly items: readonly ItemStatus[];
}

export interface ItemStatus {
  readonly key: string;
  readonly conversation_id: string;
  readonly sandbox_id: string;
  readonly sandbox_status: string;
  readonly execution_status: string;
  readonly outcome: string;
  readonly attempt: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** Null when there is no such run. Rejects when the command fails in any other way. */
export async function runStatus(copy: BatchCopy, runId: string): Promise<RunStatus | null> {
  const { code, stdout, stderr } = await runProgram(copy, 'bin/parley.js', ['status', runId, '--json'], {
    PARLEY_CONFIG: 'parley.yaml',
    // Reading needs no gateway, but the deployment names these.
    PARLEY_GATEWAY_URL: 'http://127.0.0.1:9/v1',
    PARLEY_GATEWAY_KEY: 'sk-unused',
    PARLEY_MODEL: 'openai/acme/coder-1',
    PARLEY_GATEWAY_EXPORT: 'http://127.0.0.1:9/spend/export',
  });
  if (code === 2 && stderr.includes(`"${runId}"`)) return null;
  if (code !== 0) throw new Error(`status ended with ${code}: ${stderr}`);
  const records = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const run = records.find(({ type }) => type === 'run');
  if (run === undefined) throw new Error('status told no run');
  return { run, items: records.filter(({ type }) => type === 'item') as unknown as readonly ItemStatus[] };
}
