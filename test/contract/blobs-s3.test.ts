/** Blobs and results in a bucket of a real server of S3 do what every implementation does, and say what is wrong. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { runId } from '../../core/ids.ts';
import { checkBucket } from '../../host/preflight/check-bucket.ts';
import { copiedResults } from '../../store/blobs/copied-results.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import { createS3Bucket, type S3Bucket } from '../../store/blobs/s3-bucket.ts';
import type { S3Settings } from '../../store/blobs/s3-settings.ts';
import { createS3Blobs, createS3Results } from '../../store/blobs/s3-results.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startS3Server, type S3Server } from '../../scripts/s3-server-process.ts';
import { blobSuite, chunksOf, textOf } from './blob-suite.ts';
import { resultsSuite } from './results-suite.ts';

describeWith('s3-server', 'in a bucket', () => {
  let server: S3Server;
  beforeAll(async () => void (server = await startS3Server()));
  afterAll(() => server.stop());

  const open = (changes: Partial<S3Settings> = {}): S3Bucket => {
    const bucket = createS3Bucket({ ...server.settings, ...changes });
    onTestFinished(() => bucket.close());
    return bucket;
  };

  blobSuite(() => Promise.resolve(createS3Blobs(open({ prefix: randomUUID() }))));
  resultsSuite(() => () => Promise.resolve(createS3Results(open())));

  it('has its objects below the prefix, and no part of an upload that failed', async () => {
    const bucket = open();
    await createS3Blobs(bucket).put('a/b', Buffer.from('x'));
    expect(existsSync(path.join(server.folder, 'an/installation/blobs/a/b'))).toBe(true);
    async function* failing(): AsyncGenerator<Uint8Array> {
      for (let count = 0; count < 20; count += 1) yield* chunksOf('x'.repeat(1024 * 1024));
      throw new Error('the source is gone');
    }
    await expect(bucket.put('parts', failing())).rejects.toThrow('the source is gone');
    const parts = readdirSync(server.folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /multipart/.test(name),
    );
    expect(parts.filter((name) => /\d+$/.test(name))).toEqual([]);
  });

  it('lists more than an answer of the server holds', async () => {
    const bucket = open({ prefix: '' });
    const names = Array.from({ length: 1_050 }, (_, index) => `n${String(index).padStart(4, '0')}`);
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(
        names.slice(at, at + 50).map((name) => bucket.put(`many/${name}`, Buffer.from(name))),
      );
    expect(await bucket.objectsBelow('many/', 2_000)).toEqual(names.map((key) => ({ key, bytes: 5 })));
    expect(await bucket.objectsBelow('many/', 1_020)).toHaveLength(1_020);
  });

  it('says which object it could not reach, and why', async () => {
    const blobs = createS3Blobs(open({ bucket: 'nobodys' }));
    await expect(blobs.put('a', Buffer.from('x'))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('s3://nobodys/an/installation/blobs/a'),
    });
    const wrong = { accessKeyId: 'parley-test', secretAccessKey: 'not-the-secret' };
    const refused = createS3Blobs(open({ credentials: wrong }));
    const failure = await refused.get('a').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'store_unavailable' });
    expect(String(failure)).not.toContain('not-the-secret');
  });

  it.each([
    ['a bucket that is not there', { bucket: 'nobodys' }, /the bucket "nobodys" does not exist/, /make it/],
    [
      'a wrong key',
      { credentials: { accessKeyId: 'parley-test', secretAccessKey: 'wrong' } },
      /access is refused/,
      /access key/,
    ],
    [
      'no server',
      { endpoint: 'http://127.0.0.1:9' },
      /127\.0\.0\.1:9 cannot be reached \(ECONNREFUSED\)/,
      /endpoint/,
    ],
  ] as const)('says what to do about %s', async (_name, changes, message, remedy) => {
    const failure = await open(changes)
      .check()
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(message) as string,
      remedy: expect.stringMatching(remedy) as string,
    });
    const found = await checkBucket({ ...server.settings, ...changes });
    expect([found.status, found.detail]).toEqual(['failed', expect.stringMatching(message)]);
  });

  it('asks for the encryption that the deployment names', async () => {
    const asked: (string | undefined)[] = [];
    const front = createServer((request, response) => {
      asked.push(
        [
          request.headers['x-amz-server-side-encryption'],
          request.headers['x-amz-server-side-encryption-aws-kms-key-id'],
        ].join(' '),
      );
      request.resume().on('end', () => response.writeHead(200, { etag: '"x"' }).end());
    });
    const port = await new Promise<number>((resolve) => {
      front.listen(0, '127.0.0.1', () => resolve((front.address() as AddressInfo).port));
    });
    onTestFinished(() => void front.close());
    const endpoint = `http://127.0.0.1:${port}`;
    await open({ endpoint, encryption: 'AES256' }).put('a', Buffer.from('x'));
    await open({ endpoint, encryption: 'aws:kms', kmsKeyId: 'alias/k' }).put('a', Buffer.from('x'));
    await open({ endpoint }).put('a', Buffer.from('x'));
    expect(asked).toEqual(['AES256 ', 'aws:kms alias/k', ' ']);
  });

  it('passes a look ahead, which leaves nothing behind', async () => {
    expect(await checkBucket(server.settings)).toMatchObject({ status: 'ok' });
    expect(await open().objectsBelow('tries/', 10)).toEqual([]);
  });

  it('reads on where a connection broke, and says so when the server stays away', async () => {
    const blobs = createS3Blobs(open());
    const content = Buffer.alloc(48 * 1024 * 1024, 'abcdefg');
    const { sha256 } = await blobs.put('long', content);
    const read = async (onFirst: () => Promise<void>): Promise<string> => {
      const hash = createHash('sha256');
      let isFirst = true;
      for await (const chunk of (await blobs.get('long')) ?? []) {
        hash.update(chunk);
        if (isFirst) await onFirst();
        isFirst = false;
      }
      return hash.digest('hex');
    };
    const restart = async (): Promise<void> => {
      await server.kill();
      await server.start();
    };
    expect(await read(restart)).toBe(sha256);
    await expect(read(() => server.kill())).rejects.toMatchObject({ code: 'store_unavailable' });
    await server.start();
    // Another object of that name is not the rest of this one.
    const replace = async (): Promise<void> => {
      await blobs.put('long', Buffer.alloc(content.byteLength, 'gfedcba'));
      await restart();
    };
    await expect(read(replace)).rejects.toMatchObject({ code: 'store_unavailable' });
  }, 120_000);

  it('keeps no name that a folder would not take, and shows none that somebody else put there', async () => {
    const [bucket, run] = [open(), runId('r-names')];
    const results = createS3Results(bucket);
    const long = { runId: run, key: null, name: `${'x'.repeat(300)}.txt` };
    await expect(results.write(long, Buffer.from('x'))).rejects.toMatchObject({ code: 'invalid_request' });
    await results.write({ runId: run, key: 'a', name: 'b/c' }, Buffer.from('file'));
    await results.write({ runId: run, key: null, name: 'ok' }, Buffer.from('ok'));
    await bucket.put(`results/${run}/a\\..\\b`, Buffer.from('evil'));
    const copies = createResultsDirectory(tempDir());
    expect(await results.names(run, 10)).toEqual(['a/b/c', 'ok']);
    // Where a file of an earlier attempt stands, there is no folder: the rest comes all the same.
    await copies.write({ runId: run, key: null, name: 'a' }, Buffer.from('in the way'));
    const fetched = await copiedResults(results, copies).fetch(run, () => true);
    expect(fetched).toEqual({ files: [path.join(copies.folder(run), 'ok')], left: ['a/b/c'] });
  });

  it('is whole after the server was killed in an upload and came back', async () => {
    const blobs = createS3Blobs(open());
    await blobs.put('killed', Buffer.from('old'));
    async function* slow(): AsyncGenerator<Uint8Array> {
      for (let count = 0; count < 24; count += 1) {
        if (count === 16) await server.kill();
        yield* chunksOf('y'.repeat(1024 * 1024));
      }
    }
    await expect(blobs.put('killed', slow())).rejects.toMatchObject({ code: 'store_unavailable' });
    await server.start();
    expect(await textOf(await blobs.get('killed'))).toBe('old');
  });
});
