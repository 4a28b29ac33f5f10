// The built program as a process: how it starts, refuses, stops, and what survives when it is killed.

import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { chat, get, sampleScript, user } from './gateway-fixture.ts';

const repository = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'scripted-gateway-'));
const program = join(folder, 'scripted-gateway.js');
const ledger = join(folder, 'ledger.jsonl');
const scriptPath = join(folder, 'script.yaml');
const started = new Set<ChildProcess>();

const body = { model: 'vendor/small', messages: [user('fix the bug')] };

beforeAll(async () => {
  await build({
    entryPoints: [join(repository, 'scripted-gateway/main.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(scriptPath, sampleScript);
});

afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
}

function start(path: string, ...args: readonly string[]): Promise<Running> {
  return listening(
    spawn(process.execPath, [program, path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
}

/** Waits for the line that says where the program listens. */
async function listening(child: ChildProcessByStdio<null, Readable, null>): Promise<Running> {
  started.add(child);
  child.once('exit', () => started.delete(child));
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  const { type, url } = JSON.parse(line) as { type: string; url: string };
  expect(type).toBe('listening');
  return { child, url };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exit = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  return (await exit)[0];
}

async function ledgerIds(url: string): Promise<readonly string[]> {
  const text = await (await get(url, '/spend/export')).text();
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { request_id: string }).request_id);
}

describe('the program', () => {
  it('keeps every acknowledged call, once, over kills and restarts', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const { child, url } = await start(scriptPath, '--ledger', ledger);
      const enough = acknowledged.length + 25;
      const call = async (): Promise<void> => {
        for (;;) {
          const response = await chat(url, body);
          acknowledged.push(((await response.json()) as { id: string }).id);
          if (acknowledged.length >= enough) child.kill('SIGKILL');
        }
      };
      const exit = once(child, 'exit');
      await Promise.allSettled(Array.from({ length: 8 }, call));
      await exit;
    }
    const { child, url } = await start(scriptPath, '--ledger', ledger);
    const ids = await ledgerIds(url);
    expect(new Set(ids).size).toBe(ids.length);
    expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(100);
    const total = (await (await get(url, '/spend/total')).json()) as { count: number };
    expect(total.count).toBe(ids.length);
    expect(await end(child, 'SIGTERM')).toBe(0);
    expect(readFileSync(ledger, 'utf8').split('\n').length - 1).toBe(ids.length);
  });

  it('takes back a row that only half fitted on the disk, and does not answer for it', async () => {
    const path = join(folder, 'small.jsonl');
    // The shell's limit on the size of files stands in for a full disk.
    const command = `ulimit -f 2; exec "$0" "$@"`;
    const { child, url } = await listening(
      spawn('sh', ['-c', command, process.execPath, program, scriptPath, '--ledger', path], {
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    const acknowledged: string[] = [];
    let response = await chat(url, body);
    while (response.status === 200 && acknowledged.length < 20) {
      acknowledged.push(((await response.json()) as { id: string }).id);
      response = await chat(url, body);
    }
    expect(response.status).toBe(503);
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(await ledgerIds(url)).toEqual(acknowledged);
    const lines = readFileSync(path, 'utf8').split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => (JSON.parse(line) as { request_id: string }).request_id)).toEqual(
      acknowledged,
    );
    expect(await end(child, 'SIGTERM')).toBe(0);
  });

  it('stops cleanly on SIGTERM, whatever connections clients keep', async () => {
    const { child, url } = await start(scriptPath);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await chat(url, { ...body, stream: true })).status).toBe(200);
    expect(await end(child, 'SIGTERM')).toBe(0);
  });

  it('reads files beside the script', async () => {
    mkdirSync(join(folder, 'patches'));
    writeFileSync(join(folder, 'patches/one.diff'), '--- a\n+++ b\n');
    const path = join(folder, 'files.yaml');
    writeFileSync(path, sampleScript.replace('{ command: ls }', '{ patch: { file: patches/one.diff } }'));
    const { child, url } = await start(path);
    const response = await chat(url, body);
    expect(await response.text()).toContain(String.raw`{\"patch\":\"--- a\\n+++ b\\n\"}`);
    expect(await end(child, 'SIGTERM')).toBe(0);
  });

  it('refuses wrong scripts and arguments with status 2 and says why', () => {
    const bad = join(folder, 'bad.yaml');
    writeFileSync(
      bad,
      sampleScript.replace('say: Hello.', 'tool: t\n        arguments: { a: { file: no } }'),
    );
    const run = (...args: readonly string[]) => {
      const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
      return [status, stderr.split('\n')[0]];
    };
    expect(run(bad)).toEqual([2, `${bad}:28:33: cannot read file "no": there is no such file`]);
    expect(run()).toEqual([2, 'expected one script, found 0']);
    expect(run(scriptPath, '--port', '65536')).toEqual([
      2,
      '--port: found "65536", expected a number from 0 to 65535',
    ]);
    expect(run(scriptPath, '--prot', '1')[0]).toBe(2);
    expect(run(join(folder, 'none.yaml'))[0]).toBe(2);
    expect(run(scriptPath, '--ledger', folder)[0]).toBe(1);
  });
});
