/** Bad use of the engine on Temporal by the built program: one sentence, its remedy, the right exit code, no stack. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectionOptions } from '../../temporal/server-address.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { copyBatch, type BatchCopy } from './batch-copy.ts';
import { runProgram, type ProgramEnd } from './running-program.ts';

const BARE_NAMESPACE = 'without-attributes';

describeWith('temporal', 'bad use of Temporal', () => {
  let server: DevServer;
  let copy: BatchCopy;
  beforeAll(async () => {
    server = await startServerForTests();
    copy = copyBatch('none');
    const connection = await Connection.connect(connectionOptions(server));
    const retention = { workflowExecutionRetentionPeriod: { seconds: 86_400 as never } };
    await connection.workflowService.registerNamespace({ namespace: BARE_NAMESPACE, ...retention });
    await connection.close();
  });
  afterAll(async () => {
    copy.close();
    await server.stop();
  });

  const parley = (args: readonly string[], env: Readonly<Record<string, string>>): Promise<ProgramEnd> =>
    runProgram(copy, 'bin/parley.js', args, {
      PARLEY_CONFIG: 'parley.yaml',
      PARLEY_GATEWAY_URL: 'http://127.0.0.1:9/v1',
      PARLEY_GATEWAY_KEY: 'sk-unused',
      PARLEY_MODEL: 'openai/acme/coder-1',
      PARLEY_ENGINE: 'temporal',
      ...env,
    });
  const expectEnd = (end: ProgramEnd, code: number, sentence: RegExp): void => {
    const said = end.stderr.split('\n').filter((line) => line !== '');
    expect(said.slice(-2), end.stderr).toEqual([
      expect.stringMatching(sentence),
      expect.stringMatching(/^ {2}= \S/),
    ]);
    expect(end.stderr).not.toMatch(/^\s+at /m);
    expect(end.code).toBe(code);
  };

  it.each(['run', 'worker'])('%s: no server at the address', async (command) => {
    const args = command === 'run' ? ['run', 'job.yaml', '--no-preflight'] : ['worker'];
    const end = await parley(args, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expectEnd(end, 5, /^parley: Cannot reach a Temporal server at 127\.0\.0\.1:1: nothing listens there$/);
  });

  it('wrong namespace', async () => {
    const end = await parley(['worker'], { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'nowhere' });
    expectEnd(end, 2, /^parley: Cannot use namespace "nowhere": .* has none of that name; it has "default"/);
  });

  it('missing search attributes', async () => {
    const env = { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: BARE_NAMESPACE };
    // A namespace is known everywhere a moment after it was made.
    await expect
      .poll(async () => (await parley(['worker'], env)).stderr, { timeout: 60_000 })
      .toMatch(/lacks the/);
    expectEnd(await parley(['worker'], env), 2, /it lacks the search attributes ParleyStatus/);
  });

  it('codec keys that cannot be read', async () => {
    const env = { TEMPORAL_ADDRESS: server.address, PARLEY_TEMPORAL_CODEC_KEYS: 'k1:short' };
    const end = await parley(['worker'], env);
    expect(end.stderr).toContain('environment PARLEY_TEMPORAL_CODEC_KEYS: error: Cannot read');
    expectEnd(end, 2, /^parley: Cannot use the configuration: it has errors$/);
  });

  it('a bundle of another package, and no bundle', async () => {
    const stampFile = path.join(copy.root, 'dist/workflows.bundle.json');
    const stamp = JSON.parse(readFileSync(stampFile, 'utf8')) as Record<string, unknown>;
    // The file is shared with the program that was built: it is replaced, never written into.
    rmSync(stampFile);
    writeFileSync(stampFile, JSON.stringify({ ...stamp, sdk: '1.0.0' }));
    const env = { TEMPORAL_ADDRESS: server.address };
    expectEnd(
      await parley(['worker'], env),
      2,
      /the bundle of workflows: it was made by @temporalio\/worker 1\.0\.0/,
    );
    rmSync(path.join(copy.root, 'dist/workflows.bundle.js'));
    expectEnd(
      await parley(['worker'], env),
      2,
      /^parley: Cannot use the bundle of workflows: it is missing$/,
    );
  });
});
