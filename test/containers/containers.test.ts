/**
 * PostgreSQL, a server of S3 and Temporal in containers: what holds on a machine that has a Docker daemon and none of
 * their programs. Their images are pulled where that is possible, and else made on the spot.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeDaemon } from '../../scripts/docker-daemon.ts';
import { makeCliImage } from '../../scripts/machine-images.ts';
import { startPeer } from '../../scripts/peer-container.ts';
import type { PeerContainer } from '../../scripts/peer-container.ts';
import { startPostgres } from '../../scripts/postgres-server.ts';
import { createS3Bucket } from '../../store/blobs/s3-bucket.ts';
import { createS3Blobs, createS3Results } from '../../store/blobs/s3-results.ts';
import { serverArguments } from '../../temporal/dev-server/server-arguments.ts';
import { registerOnServer } from '../../temporal/register.ts';
import { blobSuite } from '../contract/blob-suite.ts';
import { postgresSuite } from '../contract/postgres-suite.ts';
import { resultsSuite } from '../contract/results-suite.ts';
import { conversationAt, started } from '../engine/engine-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { requireTemporalCli } from '../helpers/temporal-tools.ts';
import { startS3Server, type S3Server } from '../../scripts/s3-server-process.ts';
import { deploy } from '../temporal/support/deployment.ts';
import { SLOW_MS, untilConversation } from '../temporal/support/eventually.ts';
import { installQuietRuntime } from '../temporal/support/quiet-runtime.ts';

installQuietRuntime();

/** Images are pulled or made, and a daemon may have to start. */
const START_MS_MAX = 600_000;
const TEMPORAL_IMAGE = 'temporalio/temporal:1.5.1';
const FINISHED = { startTask: 'READY', executionStatus: 'FINISHED' } as const;

describeWith('dockerd', 'in a container', () => {
  afterAll(closeDaemon);

  describe('PostgreSQL', () => {
    postgresSuite(() => startPostgres({ place: 'container' }));

    it(
      'has what was written when it is killed and started again',
      async () => {
        const server = await startPostgres({ place: 'container', isDurable: true });
        try {
          await server.run('create table kept (n int)');
          await server.run('insert into kept values (1)');
          await server.stop('SIGQUIT');
          await expect(server.run('select n from kept')).rejects.toThrow();
          await server.start();
          expect(await server.run('select n from kept')).toEqual([{ n: 1 }]);
        } finally {
          await server.close();
        }
      },
      START_MS_MAX,
    );
  });

  describe('a server of S3', () => {
    let server: S3Server;
    beforeAll(async () => void (server = await startS3Server('container')), START_MS_MAX);
    afterAll(() => server.stop());
    const bucket = () => createS3Bucket({ ...server.settings, prefix: randomUUID() });

    blobSuite(() => Promise.resolve(createS3Blobs(bucket())));
    resultsSuite(() => {
      const own = bucket();
      return () => Promise.resolve(createS3Results(own));
    });
  });

  describe('Temporal', () => {
    let server: PeerContainer;
    beforeAll(async () => {
      server = await startPeer({
        image: TEMPORAL_IMAGE,
        make: (command) => makeCliImage(command, TEMPORAL_IMAGE, requireTemporalCli()),
        command: ({ host, port }) =>
          serverArguments({
            ...{ port, uiPort: null, namespace: 'default', logLevel: 'error' },
            ...{ databaseFile: '/tmp/temporal.db', dynamicConfig: {} },
          }).map((word) => (word === '127.0.0.1' ? host : word)),
      });
    }, START_MS_MAX);
    afterAll(() => server.close());

    it(
      'drives conversations to their end, those under way when it is killed and started again among them',
      async () => {
        const at = { address: `127.0.0.1:${server.port}`, namespace: 'default', retentionDays: 1 };
        await expect
          .poll(() => registerOnServer(at).then(() => null, String), { timeout: SLOW_MS })
          .toBeNull();
        const deployment = await deploy({ address: at.address });
        const ids = [1, 2, 3, 4].map(conversationAt);
        await deployment.entities.requests.deliver(started(1));
        await untilConversation(deployment, conversationAt(1), FINISHED);
        for (const index of [2, 3, 4]) await deployment.entities.requests.deliver(started(index));
        await server.end('SIGKILL');
        await server.start();
        for (const id of ids) await untilConversation(deployment, id, FINISHED);
        expect(deployment.failures).toEqual([]);
      },
      SLOW_MS * 2,
    );
  });
});
