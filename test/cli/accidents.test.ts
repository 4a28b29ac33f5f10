/** Folders that are none, may not be read, or are gone: an error with what to do, and never "nothing was stored". */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { endWithError } from '../../cli/program.ts';
import { hasStore } from '../../host/follow/config-store.ts';
import { fail } from '../../store/sql/connection.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell } from './fake-shell.ts';

const PARLEY = path.resolve(import.meta.dirname, '../../bin/parley.js');
const sqlite = { kind: 'sqlite' } as const;

describe('a data directory', () => {
  it('has nothing while it is not there, or empty', () => {
    const dataDir = path.join(tempDir(), 'data');
    expect(hasStore({ store: sqlite, dataDir })).toBe(false);
    mkdirSync(dataDir);
    expect(hasStore({ store: sqlite, dataDir })).toBe(false);
    writeFileSync(path.join(dataDir, 'parley.db'), '');
    expect(hasStore({ store: sqlite, dataDir })).toBe(true);
  });

  it('that is a file is told, with a remedy, and is not an empty one', () => {
    const dataDir = path.join(tempDir(), 'data');
    writeFileSync(dataDir, '');
    const shell = fakeShell({ cwd: tempDir() });
    let thrown: unknown = null;
    try {
      hasStore({ store: sqlite, dataDir });
    } catch (error) {
      thrown = error;
    }
    expect(endWithError(thrown, { shell, command: 'status', json: false })).toBe(2);
    expect(shell.stderr.text).toContain('a part of the path is no folder (ENOTDIR)\n  = check the path');
  });
});

it('says what to do about a file of the database that may not be opened', () => {
  const cause = Object.assign(new Error('EACCES: permission denied, open'), {
    code: 'EACCES',
    syscall: 'open',
    path: '/data/engine.held',
  });
  expect(() => fail('hold the data directory "/data"', cause)).toThrow(
    expect.objectContaining({
      code: 'store_unavailable',
      remedy: 'check owner and permissions of the path, or name another one',
    }),
  );
});

it('starts in no folder that was removed under it, and says so in two lines', () => {
  const folder = path.join(tempDir(), 'gone');
  mkdirSync(folder);
  const script = 'cd "$1" && rmdir "$1" && exec "$2" "$3" status';
  const { status, stderr } = spawnSync('sh', ['-c', script, 'sh', folder, process.execPath, PARLEY], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr:
      'parley: Cannot start: the folder it was called in does not exist any more\n' +
      '  = change to a folder that exists\n',
  });
});
