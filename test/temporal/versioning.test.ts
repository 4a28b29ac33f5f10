/** Builds of workers: what they are called, and what an operator sees of them and does about them. Servers are real. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { promoteFirst } from '../../temporal/versioning/promote.ts';
import { buildIdOf, versionedWorkers } from '../../temporal/versioning/worker-version.ts';
import { fakeShell, recordsOf, type FakeShell } from '../cli/fake-shell.ts';
import { conversationAt, started } from '../engine/engine-harness.ts';
import { reportOf } from '../engine/fake-activities.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { openCluster, type Cluster } from './support/builds.ts';
import { eventually, SLOW_MS, untilConversation } from './support/eventually.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';

installQuietRuntime();

describe('a build', () => {
  it('is called by its program and by the bytes of its workflows', () => {
    const bundleHash = '0123456789abcdef'.repeat(4);
    expect(buildIdOf({ program: '1.2.0', bundleHash })).toBe('1.2.0-0123456789ab');
    expect(buildIdOf({ program: '1.2.0', bundleHash: `f${bundleHash.slice(1)}` })).toBe('1.2.0-f123456789ab');
  });

  it('keeps the runs that began on it', () => {
    expect(versionedWorkers({ deployment: 'parley', buildId: 'b' }).workerDeploymentOptions).toEqual({
      version: { deploymentName: 'parley', buildId: 'b' },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    });
  });

  it.each(['', 'a.b', 'a:b'])('does not belong to a deployment called "%s"', (deployment) => {
    expect(() => versionedWorkers({ deployment, buildId: 'b' })).toThrow(ParleyError);
  });
});

let server: DevServer;

interface Ended {
  readonly exitCode: number;
  readonly shell: FakeShell;
}

async function temporal(cluster: Pick<Cluster, 'deployment'>, ...args: readonly string[]): Promise<Ended> {
  const shell = fakeShell({ cwd: tempDir() });
  const where = ['--address', server.address, '--deployment', cluster.deployment];
  return { exitCode: await runCli(['temporal', ...args, ...where], shell), shell };
}

describeWith('temporal', 'parley temporal versions, promote and drain', () => {
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it('say what there is not', async () => {
    const nobody = { deployment: 'nobody' };
    const listed = await temporal(nobody, 'versions');
    expect(listed.exitCode).toBe(0);
    expect(listed.shell.stderr.text).toBe('deployment nobody: no worker with a version was ever seen\n');
    const promoted = await temporal(nobody, 'promote', '1.0.0-abc');
    expect(promoted.exitCode).toBe(2);
    expect(promoted.shell.stderr.text).toContain('no worker of it was ever seen in deployment "nobody"');
    const drained = await temporal(nobody, 'drain', '1.0.0-abc');
    expect(drained.exitCode).toBe(2);
    expect(drained.shell.stderr.text).toContain('deployment "nobody" has no such build');
    expect((await temporal(nobody, 'drain', 'x', '--wait', '1m')).exitCode).toBe(2);
  });

  it('mean the deployment that the file names, unless another is typed', async () => {
    const cwd = tempDir();
    const engine = `{ address: '${server.address}', versioning: { deployment: from-file } }`;
    writeFileSync(path.join(cwd, 'parley.yaml'), `engine: ${engine}\n`);
    const said = async (...args: readonly string[]): Promise<string> => {
      const shell = fakeShell({ cwd });
      await runCli(['temporal', ...args], shell);
      return shell.stderr.text;
    };
    expect(await said('versions')).toContain('deployment from-file: no worker');
    expect(await said('versions', '--deployment', 'typed')).toContain('deployment typed: no worker');
    expect(await said('promote', 'b1')).toContain('ever seen in deployment "from-file"');
    expect(await said('drain', 'b1')).toContain('deployment "from-file" has no such build');
  });

  it.each([['versions'], ['promote', 'b1'], ['drain', 'b1']])(
    'say in one sentence that the server cannot be asked: %s',
    async (...args) => {
      const said = async (env: Record<string, string>): Promise<[number, string]> => {
        const shell = fakeShell({ cwd: tempDir(), env });
        return [await runCli(['temporal', ...args], shell), shell.stderr.text];
      };
      expect(await said({ TEMPORAL_ADDRESS: '127.0.0.1:1' })).toEqual([
        5,
        expect.stringMatching(
          /^parley: Cannot reach a Temporal server at 127\.0\.0\.1:1: nothing listens there\n {2}= .+\n$/,
        ),
      ]);
      expect(await said({ TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'nowhere' })).toEqual([
        2,
        expect.stringMatching(/^parley: Cannot use namespace "nowhere": .+\n {2}= .+\n$/),
      ]);
    },
  );

  it(
    'move work from build to build, and wait for what is under way',
    async () => {
      const cluster = await openCluster(server.address);
      let isHeld = true;
      let opened = 0;
      const old = await cluster.startBuild('1.0.0', {
        activities: {
          // A command that takes its time: its entity must not move on meanwhile.
          openAgent: async ({ id: commandId, generation }) => {
            opened += 1;
            while (isHeld) await new Promise((resolve) => setTimeout(resolve, 50));
            return { type: 'agentOpened', commandId, report: reportOf('IDLE', Date.now(), generation) };
          },
        },
      });
      const at = { connection: cluster.connection, namespace: 'default' };
      expect(await promoteFirst(at, old.version)).toBe(true);
      await cluster.entities.requests.deliver(started(1));
      await eventually(() => opened, 1);

      const refused = await temporal(cluster, 'drain', old.version.buildId);
      expect(refused.exitCode).toBe(2);
      expect(refused.shell.stderr.text).toContain('it is the current one');

      const next = await cluster.startBuild('2.0.0');
      await eventually(
        async () => (await temporal(cluster, 'promote', next.version.buildId, '--json')).exitCode,
        0,
      );
      const again = await temporal(cluster, 'promote', next.version.buildId);
      expect(again.shell.stdout.text).toBe(`build ${next.version.buildId}: was current\n`);

      const early = await temporal(cluster, 'drain', old.version.buildId, '--wait', '3');
      expect(early.exitCode).toBe(3);
      expect(early.shell.stdout.text).toContain('1 are still on it');
      isHeld = false;
      const late = await temporal(cluster, 'drain', old.version.buildId, '--json');
      expect(late.exitCode).toBe(0);
      expect(recordsOf(late.shell).at(-1)).toMatchObject({ type: 'drained', left: 0 });
      await untilConversation(cluster, conversationAt(1), { executionStatus: 'FINISHED' });
      expect(old.idsOf('openAgent').length + next.idsOf('openAgent').length).toBe(1);

      await eventually(
        async () =>
          recordsOf((await temporal(cluster, 'versions', '--json')).shell)
            .filter(({ type }) => type === 'build')
            .map((record) => [record['build_id'], record['status'], record['open']]),
        [
          [next.version.buildId, 'current', 2],
          [old.version.buildId, 'draining', 0],
        ],
      );
      const { shell } = await temporal(cluster, 'versions');
      expect(shell.stdout.text.split('\n')[0]).toMatch(/^BUILD +STATUS +OPEN +SINCE$/);
    },
    2 * SLOW_MS,
  );
});
