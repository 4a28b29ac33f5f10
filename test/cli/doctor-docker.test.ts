/** What `parley doctor` says about Docker to a user who may not query the daemon, and where there is none. */
import { build } from 'esbuild';
import { chmodSync, mkdtempSync, realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeDir } from '../helpers/temp-dir.ts';
import type { ToldFinding } from './doctor-as-user.ts';

/** An arbitrary user; only root can become another user, and other users need not. */
const ORDINARY_UID = 65_534;

describe('parley doctor about Docker', () => {
  let dir: string;
  let program: string;
  let server: Server;
  const socket = (): string => path.join(dir, 'd.sock');
  beforeAll(async () => {
    dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'dd-')));
    program = path.join(dir, 'doctor.cjs');
    const source = path.resolve(import.meta.dirname, 'doctor-as-user.ts');
    const shape = { bundle: true, platform: 'node', format: 'cjs', target: 'node20' } as const;
    // The client can also speak SSH, with programs of the machine: our daemons are not reached in this way.
    await build({ entryPoints: [source], outfile: program, loader: { '.node': 'empty' }, ...shape });
    server = createServer((connection) => connection.end());
    await new Promise<void>((resolve) => server.listen(socket(), resolve));
    // Its owner is refused as well, so that this holds for every user but root.
    chmodSync(socket(), 0);
    chmodSync(dir, 0o755);
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    removeDir(dir);
  });

  const find = async (at: string, runtimeKind: string): Promise<ToldFinding> => {
    const identity = process.getuid?.() === 0 ? { uid: ORDINARY_UID, gid: ORDINARY_UID } : {};
    const run = promisify(execFile)(process.execPath, [program, at, runtimeKind], { cwd: dir, ...identity });
    return JSON.parse((await run).stdout) as ToldFinding;
  };

  it('fails for a user who may not use the socket, and says how to get the right and what it means', async () => {
    expect(await find(socket(), 'docker')).toEqual({
      check: 'docker',
      status: 'failed',
      detail: `Cannot ask Docker what it can do: this user may not use "${socket()}"`,
      remedy: expect.stringMatching(/the group that owns the socket.*log in again.*root on this host/),
    });
  });

  it('fails where no daemon answers, with another remedy', async () => {
    const none = path.join(dir, 'none.sock');
    expect(await find(none, 'docker')).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining(`no Docker daemon answers at "${none}"`),
      remedy: expect.stringContaining('start Docker'),
    });
  });

  it('is no failure where another runtime was chosen', async () => {
    expect(await find(socket(), 'process')).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('not chosen, and not available'),
      remedy: null,
    });
  });
});
