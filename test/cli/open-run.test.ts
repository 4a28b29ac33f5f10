/** Which run a name means: an id, the beginning of one that fits no other, or the last. */
import { describe, expect, it } from 'vitest';
import { namedRun } from '../../cli/open-run.ts';
import { serverAddress } from '../../cli/server/server-address.ts';
import { runId } from '../../core/ids.ts';
import { fakeShell } from './fake-shell.ts';
import { runRow } from './rows.ts';

/** Newest first. */
const RUNS = ['nightly-2', 'nightly-1', 'night', 'other-1'].map((id) => runRow({ runId: runId(id) }));
const reader = {
  run: (id: string) => Promise.resolve(RUNS.find((row) => row.runId === id) ?? null),
  runs: () => Promise.resolve(RUNS),
};

describe('the name of a run', () => {
  it.each([
    ['other-1', 'other-1'],
    ['last', 'nightly-2'],
    ['o', 'other-1'],
    ['nightly-1', 'nightly-1'],
    // An id counts before what it begins.
    ['night', 'night'],
  ])('%s is %s', async (text, id) => {
    expect((await namedRun(reader, text)).runId).toBe(id);
  });

  it('is refused when it begins several ids, which are named, or none', async () => {
    await expect(namedRun(reader, 'nightly')).rejects.toMatchObject({
      message: 'Cannot tell which run "nightly" is: it begins the ids of 2',
      remedy: 'write more of one: nightly-2, nightly-1',
    });
    await expect(namedRun(reader, 'x')).rejects.toThrow('Cannot find the run "x"');
    await expect(namedRun(reader, 'X!')).rejects.toThrow('Cannot use the run id');
  });
});

describe('the key of a service', () => {
  const URL = 'https://parley.example.com/';

  it('comes from the environment or a file, and is no argument', () => {
    const shell = fakeShell({ cwd: '/none', env: { PARLEY_API_KEY: 'k1', OTHER: 'k2' } });
    expect(serverAddress(shell, {})).toBeNull();
    expect(serverAddress(shell, { server: URL })).toEqual({ url: 'https://parley.example.com', key: 'k1' });
    expect(serverAddress(shell, { server: URL, apiKey: 'env:OTHER' })?.key).toBe('k2');
    expect(() => serverAddress(shell, { server: URL, apiKey: 'pa-1' })).toThrow('is not the key itself');
    expect(() => serverAddress(shell, { server: URL, apiKey: 'file:none' })).toThrow('there is no key in');
    expect(() => serverAddress(shell, { server: 'parley' })).toThrow('no address of a service');
    expect(() => serverAddress(shell, { apiKey: 'env:OTHER' })).toThrow('no service is named');
  });
});
