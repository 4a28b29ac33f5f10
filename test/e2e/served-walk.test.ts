/** `parley serve` as a real process: the walk of docs/api.md word for word, and what a killed one has accepted. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { serve, type Served } from '../api/served.ts';
import { ROOT } from '../cli/parley-program.ts';
import { printedBlocks } from '../helpers/printed-commands.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { describeWith } from '../helpers/requires.ts';

const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_')),
);
/** The shell block of the page, with the address and the key of this process. */
function walk({ url, key }: Served, folder: string): string {
  const page = readFileSync(path.join(ROOT, 'docs/api.md'), 'utf8');
  const [script = ''] = printedBlocks(page);
  const field = path.join(folder, 'field');
  writeFileSync(
    field,
    `#!/usr/bin/env node\nlet t='';process.stdin.on('data',(c)=>t+=c).on('end',()=>{const v=JSON.parse(t);console.log((Array.isArray(v)?v[0]:v)[process.argv[2]])});`,
    { mode: 0o755 },
  );
  return [
    'set -eu',
    `export PATH=${folder}:$PATH PARLEY_KEY=${key ?? ''}`,
    script.replace(/^API=.*$/m, `API=${url}`),
  ].join('\n');
}

async function runScript(
  script: string,
  cwd: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn('bash', ['-c', script], { cwd, env: inherited, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

const ask = async (served: Served, key: string, route: string, init: RequestInit = {}): Promise<unknown> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return await (await fetch(`${served.url}${route}`, { ...init, headers })).json();
};

describeWith('curl', 'the walk of docs/api.md', () => {
  it('goes word for word from start to download, and the service ends at a signal', async () => {
    const folder = tempDir();
    const served = await serve(folder);
    expect(served.key).toMatch(/^pa-/);
    const { code, output } = await runScript(walk(served, folder), folder);
    expect([code, output]).toEqual([0, expect.stringContaining('"success":true')]);
    expect(existsSync(path.join(folder, 'trajectory.zip'))).toBe(true);
    expect(await served.end('SIGTERM')).toBe(0);
  }, 600_000);
});

describe('kill -9', () => {
  it('at any moment of a start loses nothing that was accepted, and needs no new key', async () => {
    const folder = tempDir();
    mkdirSync(path.join(folder, 'data'), { recursive: true });
    let served = await serve(folder);
    const key = served.key ?? '';
    const tasks: string[] = [];
    for (const waitMs of [0, 300]) {
      const task = (await ask(served, key, '/api/v1/app-conversations', { method: 'POST', body: '{}' })) as {
        id: string;
      };
      tasks.push(task.id);
      // Different moments of the start; which one is hit does not matter to what must hold.
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await served.end('SIGKILL');
      served = await serve(folder);
      expect(served.key).toBeNull();
    }
    for (;;) {
      const route = `/api/v1/app-conversations/start-tasks?${tasks.map((id) => `ids=${id}`).join('&')}`;
      const found = (await ask(served, key, route)) as { status: string }[];
      if (found.every(({ status }) => status === 'READY')) break;
      expect(found.map(({ status }) => status)).not.toContain('ERROR');
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(await served.end('SIGTERM')).toBe(0);
  }, 600_000);
});
