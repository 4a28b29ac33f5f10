/** What the operating system refuses has a code and a remedy, and is never a bug. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { asParleyError, ParleyError } from '../../core/parley-error.ts';
import { worldErrorOf } from '../../core/world-error.ts';

const dir = mkdtempSync(path.join(os.tmpdir(), 'parley-world-error-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
}

const file = path.join(dir, 'file');
writeFileSync(file, '');

describe('a package that was left out', () => {
  it('is a part that is missing, with its name, and no bug', async () => {
    const name = '@temporalio/none';
    const refused: unknown = await import(name).then(
      () => null,
      (error: unknown) => error,
    );
    const { code, message, remedy } = asParleyError(new Error('Cannot start', { cause: refused }));
    expect({ code, message }).toEqual({
      code: 'part_missing',
      message: 'Cannot load a part of Parley: the package "@temporalio/none" is not installed',
    });
    expect(remedy).toContain('beside Parley');
  });

  it('is none where a file of ours is missing', async () => {
    const refused: unknown = await import(`${dir}/none.js`).then(
      () => null,
      (error: unknown) => error,
    );
    expect(worldErrorOf(refused)).toBeNull();
  });
});

describe('real refusals', () => {
  const refused: readonly (readonly [string, () => unknown, RegExp])[] = [
    [
      'a missing file',
      () => readFileSync(path.join(dir, 'none')),
      /^Cannot open ".*none": it does not exist/,
    ],
    ['a folder read as a file', () => readFileSync(dir), /^Cannot read: it is a folder \(EISDIR\)$/],
    ['a folder below a file', () => mkdirSync(path.join(file, 'x')), /: a part of the path is no folder/],
    ['a file where a folder is made', () => mkdirSync(file), /: something else is there already/],
  ];
  it.each(refused)('%s is a path that cannot be used', (_, work, message) => {
    const error = asParleyError(thrownBy(work));
    expect(error).toMatchObject({ code: 'path_unusable', retry: false });
    expect(error.message).toMatch(message);
    expect(error.remedy).toContain('path');
  });

  it('a full disk is told as one', () => {
    expect(asParleyError(thrownBy(() => writeFileSync('/dev/full', 'x')))).toMatchObject({
      code: 'disk_full',
      retry: true,
    });
  });

  it('a temporary folder that is not there names TMPDIR', () => {
    const error = asParleyError(thrownBy(() => mkdtempSync(path.join(dir, 'none', 'x-'))));
    expect([error.code, error.remedy]).toEqual(['path_unusable', expect.stringContaining('TMPDIR')]);
  });

  it('a port in use is told with its address', async () => {
    const first = net.createServer();
    const second = net.createServer();
    await new Promise<void>((resolve) => first.listen(0, '127.0.0.1', resolve));
    const { port } = first.address() as net.AddressInfo;
    const error = await new Promise<unknown>((resolve) => {
      second.once('error', resolve);
      second.listen(port, '127.0.0.1');
    });
    await new Promise((resolve) => first.close(resolve));
    expect(asParleyError(error)).toMatchObject({
      code: 'port_unavailable',
      message: `Cannot listen on port ${port} of "127.0.0.1": it is in use (EADDRINUSE)`,
    });
  });
});

describe('what is looked at', () => {
  const system = (code: string, syscall: string): Error => Object.assign(new Error(code), { code, syscall });

  it.each([
    ['EMFILE', 'open', 'out_of_resources'],
    ['ENOMEM', 'spawn git', 'out_of_resources'],
    ['EROFS', 'mkdir', 'path_unusable'],
    ['EACCES', 'open', 'path_unusable'],
    ['EACCES', 'listen', 'port_unavailable'],
    ['EDQUOT', 'write', 'disk_full'],
    ['EIO', 'fsync', 'disk_failed'],
  ])('%s of %s is %s', (errno, syscall, code) => {
    expect(asParleyError(system(errno, syscall)).code).toBe(code);
  });

  it('finds the refusal behind the errors around it, a bug of ours included', () => {
    const cause = new Error('cannot prepare', { cause: system('ENOSPC', 'write') });
    expect(asParleyError(new ParleyError('internal', 'it broke', { cause })).code).toBe('disk_full');
  });

  it('leaves our own errors, those of libraries and those of the network as they are', () => {
    const own = new ParleyError('agent_unreachable', 'no answer', { cause: system('ENOENT', 'connect') });
    expect(asParleyError(own)).toBe(own);
    expect(worldErrorOf(Object.assign(new Error('x'), { code: 'ENOENT' }))).toBeNull();
    expect(asParleyError(system('ECONNREFUSED', 'connect')).code).toBe('internal');
    expect(asParleyError(new TypeError('x is not a function')).code).toBe('internal');
  });
});
