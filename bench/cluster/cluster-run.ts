/**
 * A run that is submitted over the API, to any service, and polled until it has finished.
 * Owns its job and its requests; the judge reads its results from another machine.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Body, Caller } from './caller.ts';
import { WRITTEN } from './deployment.ts';

const POLL_MS = 500;
const FINISHED_MS_MAX = 900_000;

export interface FinishedRun {
  readonly id: string;
  readonly keys: readonly string[];
  /** As the API returns it; null when the run did not end. */
  readonly record: Body;
}

const jobOf = (size: number): string => `kind: job
version: 1
name: cluster
defaults: { model: default }
conversations:
  - id: text
    matrix: { part: [${Array.from({ length: size }, (_, index) => `p${index}`).join(', ')}] }
    prompt: 'Write part \${{ matrix.part }} ${WRITTEN}.'
    verify: { command: test -s text.md }
retry: [{ on: [infra], attempts: 10, backoff: { initial: 1s, max: 5s } }]
collect: [trajectory, { files: [text.md] }]
report: [{ to: report.html }, { to: report.md }]
`;

/** Submitted to two services at once, under one key. */
export async function playRun(caller: Caller, size: number): Promise<FinishedRun> {
  const compiled = await caller.call({
    ...{ method: 'POST', path: '/api/v1/jobs/compile', body: { text: jobOf(size) } },
  });
  const { plan, findings } = compiled.body as Body;
  if (plan === null || plan === undefined) throw new Error(`the job: ${JSON.stringify(findings)}`);
  const call = { method: 'POST', path: '/api/v1/runs', key: 'the-run', body: { plan } } as const;
  const [one, other] = await Promise.all([caller.call(call), caller.call(call)]);
  const ids = new Set([one, other].map(({ body }) => body?.id ?? body?.run_id));
  const [id] = ids;
  if (ids.size !== 1 || typeof id !== 'string')
    throw new Error(`a run that was submitted twice: ${JSON.stringify([one, other])}`);
  for (const until = Date.now() + FINISHED_MS_MAX; Date.now() < until; await pause(POLL_MS)) {
    const record = await caller.get(`/api/v1/runs/${id}`);
    if (record.phase === 'finished') return { id, record, keys: await keysOf(caller, id) };
  }
  return { id, record: null, keys: await keysOf(caller, id) };
}

async function keysOf(caller: Caller, id: string): Promise<readonly string[]> {
  const items = await caller.pages(`/api/v1/runs/${id}/items/search`);
  return items.map(({ key }) => key as string);
}
