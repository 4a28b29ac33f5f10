/** Where the server that skips time is looked for, and what is said where there is none. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTestServer } from '../../testing/temporal/serve-engines.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const never = () => Promise.reject(new Error('no way out of here'));

function program(file: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return file;
}

describe('findTestServer()', () => {
  it('takes the program that the environment names', async () => {
    const named = program(path.join(tempDir(), 'server'));
    expect(await findTestServer({ PARLEY_TEMPORAL_TEST_SERVER: named }, never)).toBe(named);
  });

  it('refuses a name that is no program', async () => {
    const env = { PARLEY_TEMPORAL_TEST_SERVER: path.join(tempDir(), 'nothing') };
    await expect(findTestServer(env, never)).rejects.toMatchObject({
      code: 'engine_misconfigured',
      message: expect.stringMatching(
        /PARLEY_TEMPORAL_TEST_SERVER names ".*", which is no program$/,
      ) as string,
    });
  });

  it('prefers what is installed, the newest, to what was fetched', async () => {
    const tools = tempDir();
    program(path.join(tools, 'temporal-test-server', 'fetched'));
    program(path.join(tools, 'temporal-test-server-1.36.0', 'temporal-test-server'));
    const newest = program(path.join(tools, 'temporal-test-server-1.37.0', 'temporal-test-server'));
    expect(await findTestServer({ PARLEY_TOOLS_DIR: tools }, never)).toBe(newest);
  });

  it('fetches once', async () => {
    const env = { PARLEY_TOOLS_DIR: tempDir() };
    let fetched = 0;
    const fetch = (folder: string): Promise<void> => {
      fetched += 1;
      program(path.join(folder, 'test-server'));
      return Promise.resolve();
    };
    const found = await findTestServer(env, fetch);
    expect(await findTestServer(env, fetch)).toBe(found);
    expect(fetched).toBe(1);
  });

  it('says what to do where nothing is installed and nothing can be fetched', async () => {
    await expect(findTestServer({ PARLEY_TOOLS_DIR: tempDir() }, never)).rejects.toMatchObject({
      code: 'engine_misconfigured',
      message: 'Cannot start the server that skips time: it is not installed and could not be fetched',
      remedy: expect.stringContaining('PARLEY_TEMPORAL_TEST_SERVER') as string,
    });
  });
});
