/** The process runtime as an ordinary user has it: no control group, and what the kernel bounds without one. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { bundleProgram } from '../contract/process-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { removeDir } from '../helpers/temp-dir.ts';
import type { OrdinaryResult } from './ordinary-host.ts';

/** An arbitrary user; only root can become another user, and every other user is an ordinary one already. */
const ORDINARY_UID = 65_534;
const MEBIBYTE = 1024 ** 2;

describeWith('bwrap', 'the process runtime of an ordinary user', () => {
  it('bounds memory per process, processes per sandbox and files, and hides what must be hidden', async () => {
    const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'ou-')));
    const isRoot = process.getuid?.() === 0;
    const own = async (name: string, source: string): Promise<string> => {
      const file = path.join(dir, `${name}.cjs`);
      copyFileSync(await bundleProgram(name, source), file);
      chmodSync(file, 0o644);
      return file;
    };
    const program = await own('ordinary-host', 'test/runtimes/ordinary-host.ts');
    const agentServer = await own('stand-in-agent', 'test/contract/stand-in-agent.ts');
    const sandboxInit = await own('sandbox-init', 'runtimes/process/inside/init.ts');
    mkdirSync(path.join(dir, 'u'));
    for (const one of [dir, path.join(dir, 'u')]) if (isRoot) chownSync(one, ORDINARY_UID, ORDINARY_UID);
    const options = {
      dataDir: path.join(dir, 'u/data'),
      socketDir: path.join(dir, 'u/s'),
      isolation: 'namespaces',
      splitsTools: true,
      programs: { agentServer, sandboxInit },
      hostSockets: Object.fromEntries(
        ['proxy', 'webhook', 'git'].map((name) => [name, path.join(dir, 'u/h', name)]),
      ),
      limits: { memoryBytes: 512 * MEBIBYTE, processes: 60, fileBytes: 16 * MEBIBYTE },
      controlGroups: 'none',
    };
    const who = isRoot ? { uid: ORDINARY_UID, gid: ORDINARY_UID } : {};
    const ran = spawnSync(process.execPath, [program], {
      ...who,
      input: JSON.stringify(options),
      encoding: 'utf8',
      cwd: dir,
    });
    expect(ran.stderr).toBe('');
    const result = JSON.parse(ran.stdout) as OrdinaryResult;
    expect(result).toMatchObject({
      limits: {
        memory: 'process',
        processes: 'sandbox',
        cpu: 'none',
        fileSize: 'process',
        workspace: 'watched',
      },
      memory: '',
      file: '',
      environment: '',
      settings: '',
      reached: [],
    });
    expect(result.uid).not.toBe(0);
    expect(result.forks).toMatch(/^at \d+$/);
    removeDir(dir);
  });
});
