/**
 * The first batch in containers of a real daemon: the same report as in plain processes, and nothing left behind.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeDaemon, containersOf, dockerSocket } from '../../scripts/docker-daemon.ts';
import { describeWith } from '../helpers/requires.ts';
import { runWholeBatch, type WholeBatch } from './whole-batch.ts';

/** Both runs, and the image the first time. */
const START_MS_MAX = 300_000;
describeWith('dockerd', 'the first batch in containers', () => {
  const batches: WholeBatch[] = [];
  let inContainers: WholeBatch;
  let inProcesses: WholeBatch;
  beforeAll(async () => {
    inContainers = await runWholeBatch({ PARLEY_RUNTIME: 'docker', PARLEY_DOCKER_SOCKET: dockerSocket() });
    batches.push(inContainers);
    inProcesses = await runWholeBatch({});
    batches.push(inProcesses);
  }, START_MS_MAX);
  afterAll(async () => {
    for (const { copy } of batches) copy.close();
    await closeDaemon();
  });

  it('succeeds with every conversation, and warns of nothing', () => {
    expect(inContainers.end.stdout).toContain('done 3/3, running 0, waiting 0, failed 0');
    expect(inContainers.end.stderr).not.toMatch(/warning/i);
  });

  it('tells the same as in processes, record for record', () => {
    expect(inContainers.report).toEqual(inProcesses.report);
  });

  it('leaves no sandbox: no container, no directory, no socket', () => {
    expect(containersOf(dockerSocket())).toEqual([]);
    const { copy } = inContainers;
    const left = path.join(copy.dataDir, 'sandboxes');
    expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
    const sockets = readdirSync(copy.env['TMPDIR'] ?? '', { recursive: true, encoding: 'utf8' });
    expect(sockets.filter((name) => name.endsWith('.sock'))).toEqual([]);
  });
});
