/**
 * How long a start over the API of `parley serve` takes until READY, beside the boot of the same sandbox with its Agent Server.
 * Owns what is compared: both in turns, on the process runtime in the same form of isolation. Figures are printed, never
 * asserted; docs/bench.md says how to read them.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { load, showTimes } from './all/figure.ts';
import { sandboxId } from '../core/ids.ts';
import type { SandboxRuntime } from '../ports/sandbox-runtime.ts';
import { runtimeIn } from './sandbox-runtime.ts';
import { startService, type Service } from './service.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20' },
    isolation: { type: 'string', default: 'namespaces' },
  },
});
const COUNT = Number(values.count);
const POLL_MS = 10;
const READY_MS_MAX = 60_000;
const APP = '/api/v1/app-conversations';
const SANDBOXES = '/api/v1/sandboxes';

/** As a client sees it that has the start streamed: to ask over and over would take time from what is measured. */
async function start({
  url,
  headers,
}: Service): Promise<{ readonly took: number; readonly sandboxId: string }> {
  const began = performance.now();
  const init = { method: 'POST', headers, body: '{}' };
  const tasks = (await (await fetch(`${url}${APP}/stream-start`, init)).json()) as readonly StartTask[];
  const took = performance.now() - began;
  const last = tasks.at(-1);
  if (last?.status !== 'READY' || last.sandbox_id === null)
    throw new Error(`the start failed: ${last?.detail ?? 'no status came'}`);
  return { took, sandboxId: last.sandbox_id };
}

interface StartTask {
  readonly status: string;
  readonly detail: string | null;
  readonly sandbox_id: string | null;
}

async function remove({ ask }: Service, id: string): Promise<void> {
  await ask('DELETE', `${SANDBOXES}/${id}`);
  while ((await ask('GET', `${SANDBOXES}?id=${id}`))[0].status !== 'MISSING') await pause(POLL_MS);
}

/** The same sandbox without a service: from its start until its Agent Server answers. */
async function boot(runtime: SandboxRuntime): Promise<number> {
  const id = sandboxId(randomBytes(16).toString('hex'));
  const began = performance.now();
  await runtime.start({
    sandboxId: id,
    generation: 1,
    sessionKey: 'bench',
    deadline: Date.now() + READY_MS_MAX,
  });
  const took = performance.now() - began;
  await runtime.destroy(id);
  return took;
}

async function main(): Promise<void> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'pr-')));
  const isolation = values.isolation as 'namespaces';
  const runtime = runtimeIn(path.join(folder, 'r'), { isolation });
  const config = `runtime: { isolation: ${isolation} }\nlimits: { idle_time: 0 }\n`;
  const service = await startService(folder, config);
  const boots: number[] = [];
  const starts: number[] = [];
  try {
    // The first turn of each is not counted.
    for (let turn = 0; turn <= COUNT; turn += 1) {
      const bare = await boot(runtime);
      const { took, sandboxId: id } = await start(service);
      await remove(service, id);
      if (turn === 0) continue;
      boots.push(bare);
      starts.push(took);
    }
  } finally {
    await service.end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
  report({ boot: boots, 'start to READY': starts, above: starts.map((took, n) => took - (boots[n] ?? 0)) });
}

function report(figures: Readonly<Record<string, readonly number[]>>): void {
  console.log(`process, ${values.isolation}, ${COUNT} each, load ${load()}; milliseconds`);
  for (const [part, all] of Object.entries(figures))
    showTimes(part, all, part === 'above' ? ['≤', 100] : undefined);
}

await main();
