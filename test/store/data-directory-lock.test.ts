/** One engine per data directory, among real processes that are really killed. */
import Database from 'libsql';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LOCK_FILE, lockDataDirectory } from '../../store/engine/data-directory-lock.ts';
import { processMark } from '../../store/engine/process-identity.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { buildChildren, releaseTogether, startChild } from './child-program.ts';

const STARTED = { startedAt: 1_784_900_000_000 };

describe('lockDataDirectory()', () => {
  it('is held once, and again after its release', () => {
    const directory = path.join(tempDir(), 'new', 'data');
    const lock = lockDataDirectory(directory, STARTED);
    expect(() => lockDataDirectory(directory, STARTED)).toThrow(
      expect.objectContaining({
        code: 'data_directory_locked',
        details: { pid: process.pid, startedAt: STARTED.startedAt },
        message: `Cannot use the data directory "${directory}": the process ${process.pid} has owned it since 2026-07-24T13:33:20.000Z`,
      }),
    );
    lock.release();
    const again = lockDataDirectory(directory, STARTED);
    lock.release();
    expect(() => lockDataDirectory(directory, STARTED)).toThrow('Cannot use the data directory');
    again.release();
  });

  it('is refused while another process lives, and taken over once that was killed', async () => {
    const directory = tempDir();
    const program = buildChildren(tempDir());
    const holder = startChild(program, 'lock-holder', directory);
    await releaseTogether([holder]);
    expect((await holder.lines.next()).value).toBe('held');
    expect(() => lockDataDirectory(directory, STARTED)).toThrow(
      expect.objectContaining({
        code: 'data_directory_locked',
        details: expect.objectContaining({ pid: holder.pid }) as unknown,
      }),
    );
    await holder.kill();
    lockDataDirectory(directory, STARTED).release();
  });

  it('is taken over by one of many', async () => {
    const directory = tempDir();
    const program = buildChildren(tempDir());
    const killed = startChild(program, 'lock-holder', directory);
    await releaseTogether([killed]);
    expect((await killed.lines.next()).value).toBe('held');
    await killed.kill();
    const heirs = Array.from({ length: 6 }, () => startChild(program, 'lock-holder', directory));
    await releaseTogether(heirs);
    const said = await Promise.all(heirs.map(async (heir) => String((await heir.lines.next()).value)));
    const owner = heirs[said.indexOf('held')];
    expect(said.filter((line) => line === 'held')).toHaveLength(1);
    expect(said.filter((line) => line === `data_directory_locked ${owner?.pid ?? ''}`)).toHaveLength(5);
    await Promise.all(heirs.map((heir) => heir.kill()));
  });

  it('is not fooled by a number that was given out again', () => {
    const directory = tempDir();
    lockDataDirectory(directory, STARTED).release();
    const earlier = `(${process.pid}, 'an earlier process', 0)`;
    new Database(path.join(directory, LOCK_FILE)).exec(`insert into owner values ${earlier}`);
    const heir = lockDataDirectory(directory, STARTED);
    expect(() => lockDataDirectory(directory, STARTED)).toThrow('Cannot use the data directory');
    heir.release();
  });

  it('says so when the owner has no start', () => {
    expect(() => lockDataDirectory(tempDir(), { ...STARTED, pid: 2 ** 22 + 1 })).toThrow(
      expect.objectContaining({ code: 'store_unavailable' }),
    );
  });
});

describe('processMark()', () => {
  it('is the same for one process and differs between two', async () => {
    const program = buildChildren(tempDir());
    const child = startChild(program, 'lock-holder', tempDir());
    await child.lines.next();
    expect(processMark(process.pid)).toBe(processMark(process.pid));
    expect(processMark(child.pid)).not.toBe(processMark(process.pid));
    await child.kill();
    expect(processMark(child.pid)).toBeNull();
  });

  it('takes a process for dead that only waits for its parent', async () => {
    // The shell becomes a program that never asks for its children, so the first one stays in the list for ever.
    // It ends only when the shell has become that program: before, the shell itself would take it off the list.
    const shell = spawn('sh', ['-c', 'cat <&3 >/dev/null & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    });
    onTestFinished(() => {
      shell.kill('SIGKILL');
    });
    const [line] = (await once(shell.stdout as Readable, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const program = (): string => readFileSync(`/proc/${shell.pid}/comm`, 'utf8').trim();
    await expect.poll(program, { timeout: 60_000 }).toBe('sleep');
    (shell.stdio[3] as Writable).end();
    await expect.poll(() => processMark(pid), { timeout: 60_000 }).toBeNull();
    expect(() => process.kill(pid, 0)).not.toThrow();
  });
});

describe('a process whose number means nothing here, as that of another container', () => {
  it('holds the directory all the same, for as long as it lives', async () => {
    const directory = tempDir();
    const holder = startChild(buildChildren(tempDir()), 'lock-holder', directory);
    await releaseTogether([holder]);
    expect((await holder.lines.next()).value).toBe('held');
    const file = new Database(path.join(directory, LOCK_FILE));
    file.exec("update owner set pid = 1, mark = 'of another boot'");
    file.close();
    expect(() => lockDataDirectory(directory, STARTED)).toThrow(
      expect.objectContaining({ code: 'data_directory_locked' }),
    );
    await holder.kill();
    lockDataDirectory(directory, STARTED).release();
  });
});
