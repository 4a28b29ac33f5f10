/**
 * What idle streams of events cost a database, and how late they deliver an event: `parley serve` as
 * it is shipped, over a PostgreSQL server of its own.
 * Owns what is counted; figures are printed, never asserted. docs/bench.md says how to read them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { load, show, showTimes } from './all/figure.ts';
import { startService, type Ask, type Service } from './service.ts';
import { startPostgres, type PostgresServerProcess } from '../scripts/postgres-server.ts';

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '40' },
    seconds: { type: 'string', default: '20' },
    messages: { type: 'string', default: '20' },
  },
});
const STREAMS = Number(values.streams);
const SECONDS = Number(values.seconds);
const MESSAGES = Number(values.messages);
/** Until the rest of a start is done and counted by the server: idle sessions report after ten seconds. */
const SETTLE_MS = 15_000;
const DATABASE = 'bench';
const CONFIG = `runtime: { isolation: none }
limits: { idle_time: 0 }
store: { kind: postgres, url: os.environ/BENCH_DATABASE }
`;
const APP = '/api/v1/app-conversations';

async function startReady(call: Ask): Promise<{ readonly id: string; readonly sandboxId: string }> {
  const { id: taskId } = (await call('POST', APP, {})) as { readonly id: string };
  for (;;) {
    const [task] = (await call('GET', `${APP}/start-tasks?ids=${taskId}`)) as Record<string, string>[];
    if (task?.['status'] === 'READY')
      return { id: task['app_conversation_id'] ?? '', sandboxId: task['sandbox_id'] ?? '' };
    if (task?.['status'] === 'ERROR') throw new Error(`the start failed: ${task['detail']}`);
    await pause(100);
  }
}

/** Calls back with every chunk. */
async function listen(service: Service, id: string, onText: (text: string) => void): Promise<void> {
  const route = `${service.url}/api/v1/conversation/${id}/events/stream`;
  const { body } = await fetch(route, { headers: service.headers });
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    for await (const chunk of body ?? []) onText(decoder.decode(chunk as Uint8Array, { stream: true }));
  };
  void read().catch(() => undefined);
}

async function commitsPerSecond(server: PostgresServerProcess): Promise<number> {
  const count = async (): Promise<number> => {
    const [row] = await server.run(
      `select xact_commit::float8 as count from pg_stat_database where datname = '${DATABASE}'`,
    );
    return Number(row?.['count'] ?? 0);
  };
  const before = await count();
  await pause(SECONDS * 1_000);
  return ((await count()) - before) / SECONDS;
}

/** From before a message is sent to its event in the last stream, including the agent's own part. */
async function latencies(call: Ask, id: string, heard: readonly string[]): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let index = 0; index < MESSAGES; index += 1) {
    const text = `word-${index}-of-the-bench`;
    const began = performance.now();
    await call('POST', `${APP}/${id}/send-message`, { content: [{ type: 'text', text }], run: false });
    while (!heard.some((one) => one.includes(text))) await pause(2);
    taken.push(performance.now() - began);
  }
  return taken;
}

async function main(): Promise<void> {
  const server = await startPostgres();
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-bench-streams-'));
  const database = await server.createDatabase(DATABASE);
  const service = await startService(folder, CONFIG, { BENCH_DATABASE: database });
  const call = service.ask;
  try {
    const { id, sandboxId } = await startReady(call);
    await pause(SETTLE_MS);
    const without = await commitsPerSecond(server);
    const heard: string[] = [];
    for (let index = 0; index < STREAMS; index += 1)
      await listen(service, id, (text) => void (index === STREAMS - 1 && heard.push(text)));
    await pause(SETTLE_MS);
    const idle = await commitsPerSecond(server);
    const taken = await latencies(call, id, heard);
    console.log(`${STREAMS} idle streams over ${SECONDS} s, load ${load()}`);
    show({ what: 'commits a second without streams', value: without, unit: '' });
    show({ what: `commits a second with ${STREAMS} idle streams`, value: idle, unit: '' });
    showTimes('message to stream', taken);
    await call('DELETE', `/api/v1/sandboxes/${sandboxId}`);
  } finally {
    await service.end();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
