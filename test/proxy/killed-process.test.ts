/** A proxy killed in the middle of a call: its row is not lost (D26). */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../helpers/temp-dir.ts';
import type { KillableSetup } from './killable-proxy.ts';
import { MemorySpendLog } from './memory-spend-log.ts';
import { AGENT_KEY, entryFor, send, startProxy } from './proxy-under-test.ts';
import { answerJson, REPLY, startStubGateway } from './stub-gateway.ts';

interface Killable {
  readonly child: ChildProcess;
  readonly url: string;
}

async function startKillable(folder: string, setup: KillableSetup): Promise<Killable> {
  const outfile = path.join(folder, 'killable.cjs');
  const entry = path.join(import.meta.dirname, 'killable-proxy.ts');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
  });
  const child = spawn(process.execPath, [outfile, JSON.stringify(setup)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, url: line.toString('utf8').trim() };
}

describe('a proxy killed with SIGKILL', () => {
  it('leaves the row of the call in flight as interrupted, and that of an ended call complete', async () => {
    const folder = tempDir();
    const spoolDir = path.join(folder, 'spool');
    const gateway = await startStubGateway();
    const setup = { spoolDir, entry: entryFor(gateway.origin), key: AGENT_KEY };
    const { child, url } = await startKillable(folder, setup);
    expect((await send({ url })).status).toBe(200);
    gateway.answer = () => undefined;
    const cut = send({ url }).catch(() => null);
    await gateway.arrival(2);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await cut;

    const spend = new MemorySpendLog();
    gateway.answer = answerJson(200, REPLY);
    const next = await startProxy({ origin: gateway.origin, spend, spoolDir });
    const found = [...spend.rows.values()].map(({ callId, state, endedAt, promptTokens }) => ({
      callId,
      state,
      endedAt,
      promptTokens,
    }));
    expect(found).toEqual([
      { callId: 'killed-1', state: 'succeeded', endedAt: 7, promptTokens: 10 },
      { callId: 'killed-2', state: 'interrupted', endedAt: 1_000, promptTokens: null },
    ]);
    await send({ url: next.url });
    expect((await next.rows()).map((row) => row.state)).toEqual(['succeeded', 'interrupted', 'succeeded']);
  });
});
