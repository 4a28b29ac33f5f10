/** Where the Temporal CLI is looked for, and what is said when there is none. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findCli, installedCli } from '../../temporal/dev-server/find-cli.ts';
import { serverArguments } from '../../temporal/dev-server/server-arguments.ts';
import { startDevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** A program that ends at once, at a path below `home`. */
function program(home: string, name: string): string {
  const file = path.join(home, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\nexit 3\n');
  chmodSync(file, 0o755);
  return file;
}

describe('findCli()', () => {
  it('takes the first of: variable, search path, the folders of Go, the cache', async () => {
    const home = tempDir();
    const folders = ['path-a', 'path-b', 'gobin', 'gopath/bin', 'go/bin'];
    const files = [
      program(home, 'named/anything'),
      ...folders.map((name) => program(home, `${name}/temporal`)),
    ];
    const cached = program(home, '.cache/parley-tools/temporal-cli/fetched');
    const env: Record<string, string> = {
      PARLEY_TEMPORAL_CLI: files[0] ?? '',
      PATH: ['path-a', 'path-b'].map((name) => path.join(home, name)).join(path.delimiter),
      GOBIN: path.join(home, 'gobin'),
      GOPATH: path.join(home, 'gopath'),
      HOME: home,
    };
    for (const file of files) {
      expect(await findCli(env)).toBe(file);
      if (env['PARLEY_TEMPORAL_CLI'] === file) env['PARLEY_TEMPORAL_CLI'] = '';
      else chmodSync(file, 0o644);
    }
    expect(installedCli(env)).toBeNull();
    expect(await findCli(env)).toBe(cached);
  });

  it('does not look further when the variable names no program', async () => {
    const home = tempDir();
    program(home, 'go/bin/temporal');
    const named = path.join(home, 'missing');
    await expect(findCli({ HOME: home, PARLEY_TEMPORAL_CLI: named })).rejects.toMatchObject({
      code: 'engine_misconfigured',
      message: `Cannot start a Temporal server: PARLEY_TEMPORAL_CLI names "${named}", which is no program`,
    });
  });

  it('says how to install it where it can neither be found nor fetched', async () => {
    // The fetching is native and reads the variables of the process itself.
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy']) {
      const before = process.env[name];
      process.env[name] = name.toLowerCase() === 'https_proxy' ? 'http://127.0.0.1:1' : '';
      onTestFinished(() => {
        if (before === undefined) delete process.env[name];
        else process.env[name] = before;
      });
    }
    await expect(findCli({ HOME: tempDir() })).rejects.toMatchObject({
      code: 'engine_misconfigured',
      message: 'Cannot start a Temporal server: the Temporal CLI is not installed and could not be fetched',
      remedy: expect.stringContaining('PARLEY_TEMPORAL_CLI') as string,
    });
  });
});

describe('startDevServer()', () => {
  it('says so when the program ends at once', async () => {
    const home = tempDir();
    const env = { HOME: home, PATH: process.env['PATH'], PARLEY_TEMPORAL_CLI: program(home, 'broken') };
    await expect(startDevServer({ env, namespace: 'default' })).rejects.toMatchObject({
      code: 'engine_unreachable',
      message: 'Cannot start a Temporal server: it ended at once',
    });
  });
});

describe('serverArguments()', () => {
  const server = { port: 7233, uiPort: null, namespace: 'n', databaseFile: null, logLevel: 'warn' } as const;

  it('suit one small machine, and can be overridden', () => {
    const args = serverArguments({
      ...server,
      dynamicConfig: { 'history.timerProcessorMaxTimeShift': '1s', 'a.flag': true },
    });
    expect(args.join(' ')).toBe(
      'server start-dev --ip 127.0.0.1 --port 7233 --headless --namespace n --log-level warn ' +
        '--search-attribute ParleyStatus=Keyword --search-attribute ParleyRun=Keyword ' +
        '--search-attribute ParleyOwner=Keyword --search-attribute ParleyTags=KeywordList ' +
        '--dynamic-config-value matching.numTaskqueueReadPartitions=1 ' +
        '--dynamic-config-value matching.numTaskqueueWritePartitions=1 ' +
        '--dynamic-config-value history.timerProcessorMaxTimeShift="1s" --dynamic-config-value a.flag=true',
    );
  });

  it('name file and user interface when they are asked for', () => {
    const args = serverArguments({ ...server, uiPort: 8233, databaseFile: 't.db', dynamicConfig: {} });
    expect(args.join(' ')).toContain('--ui-port 8233');
    expect(args.slice(-6)).toEqual([
      ...['--db-filename', 't.db'],
      ...['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal'],
    ]);
  });
});
