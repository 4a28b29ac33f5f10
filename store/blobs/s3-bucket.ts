/**
 * A bucket of an object store that speaks S3's protocol, below one prefix.
 * Owns the client, whole uploads, and reads that go on where a connection broke; must not know what an object is for.
 */
import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ListObjectsV2CommandOutput, S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import type { BlobStore } from '../../ports/blob-store.ts';
import { missingPartOf } from '../../core/parley-error.ts';
import { isMissing, s3Error } from './s3-error.ts';
import type { S3Settings } from './s3-settings.ts';

export interface S3Object {
  readonly key: string;
  readonly bytes: number;
}

/** Keys may be any text that S3 accepts. */
export interface S3Bucket extends BlobStore {
  /** @throws ParleyError store_unavailable with what to do, part_missing without the packages of its client */
  check(): Promise<void>;
  /** Keys that begin so, sorted, without `start`; at most `countMax`. */
  objectsBelow(start: string, countMax: number): Promise<readonly S3Object[]>;
  /** For people. */
  address(key: string): string;
  close(): Promise<void>;
}

/** S3 requires at least 5 MiB of every part but the last; an upload holds two parts at a time. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;
/** Objects in one page of a listing; S3 returns no more. */
const PAGE_SIZE = 1_000;
/** A server that does not accept a connection in this time is down. */
const CONNECT_MS_MAX = 5_000;
/** Longest silence on a connection: a part of an upload takes less on any usable line. */
const SILENT_MS_MAX = 120_000;
/** Connections that break one after another without a byte in between. */
const READ_TRIES = 3;
/** Silences the client's warning that next year's versions need a newer Node; docs/dependencies.md says it instead. */
const QUIET = 'AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED';

/** The client is loaded and made at the first use: many commands never use the bucket. */
export function createS3Bucket(settings: S3Settings): S3Bucket {
  const { bucket: Bucket, prefix } = settings;
  let opening: Promise<OpenedClient> | null = null;
  const open = (): Promise<OpenedClient> => (opening ??= openClient(settings));
  const keyOf = (key: string): string => (prefix === '' ? key : `${prefix}/${key}`);
  const address = (key: string): string => `s3://${Bucket}/${keyOf(key)}`;
  const failed = (doing: string, key: string) => (cause: unknown) => {
    throw s3Error(`Cannot ${doing} ${address(key)}`, cause, settings);
  };
  const read = async (key: string, part: { readonly from: number; readonly etag: string | undefined }) => {
    const { sdk, client } = await open();
    const rest = part.from === 0 ? {} : { Range: `bytes=${part.from}-`, IfMatch: part.etag };
    return await client.send(new sdk.GetObjectCommand({ Bucket, Key: keyOf(key), ...rest }));
  };
  const list = async (
    start: string,
    page: { readonly from: string | undefined; readonly count: number },
  ): Promise<ListObjectsV2CommandOutput> => {
    const { sdk, client } = await open();
    const more = page.from === undefined ? {} : { ContinuationToken: page.from };
    const wanted = { Bucket, Prefix: keyOf(start), MaxKeys: page.count, ...more };
    return await client.send(new sdk.ListObjectsV2Command(wanted)).catch(failed('list', start));
  };
  return {
    check: async () => void (await list('', { from: undefined, count: 1 })),
    async put(key, content) {
      const { sdk, client } = await open();
      const written = measured();
      const upload = new sdk.Upload({
        client,
        params: {
          ...{ Bucket, Key: keyOf(key), ChecksumAlgorithm: 'SHA256' },
          ...encryptionOf(settings),
          Body: bodyOf(content, written),
        },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
        // Parts of a failed upload would cost money until the operator finds them.
        leavePartsOnError: false,
      });
      await upload.done().catch((cause: unknown) => {
        if (written.failed !== null) throw written.failed;
        failed('write', key)(cause);
      });
      return { bytes: written.bytes, sha256: written.hash.digest('hex') };
    },
    async get(key) {
      const found = await read(key, { from: 0, etag: undefined })
        .catch(nullWhenMissing)
        .catch(failed('read', key));
      if (found?.Body === undefined) return null;
      const again = (from: number) => read(key, { from, etag: found.ETag });
      return wholeBody(found, { again, failed: failed('read', key) });
    },
    async remove(key) {
      const { sdk, client } = await open();
      const request = new sdk.DeleteObjectCommand({ Bucket, Key: keyOf(key) });
      await client.send(request).catch(nullWhenMissing).catch(failed('remove', key));
    },
    objectsBelow: async (start, countMax) => {
      const objects = await allObjects((from, count) => list(start, { from, count }), countMax);
      const cut = keyOf(start).length;
      return objects.map(({ key, bytes }) => ({ key: key.slice(cut), bytes })).sort(byKey);
    },
    address,
    close: async () => (await opening?.catch(() => null))?.client.destroy(),
  };
}

type GetAnswer = Awaited<ReturnType<S3Client['send']>> & { readonly Body?: unknown };

/** After a broken connection, reading continues where it stopped, as long as it is the same object. */
async function* wholeBody(
  first: object,
  { again, failed }: { again(from: number): Promise<object>; failed(cause: unknown): never },
): AsyncGenerator<Uint8Array> {
  let [answer, from] = [first as GetAnswer, 0];
  for (let tries = 1; ; tries += 1) {
    try {
      for await (const chunk of answer.Body as AsyncIterable<Uint8Array>) {
        from += chunk.byteLength;
        tries = 1;
        yield chunk;
      }
      return;
    } catch (cause) {
      if (tries >= READ_TRIES) failed(cause);
      answer = (await again(from).catch(failed)) as GetAnswer;
    }
  }
}

/** Page by page, until there are no more or enough objects. */
async function allObjects(
  list: (from: string | undefined, count: number) => Promise<ListObjectsV2CommandOutput>,
  countMax: number,
): Promise<readonly S3Object[]> {
  const objects: S3Object[] = [];
  let from: string | undefined;
  do {
    const page = await list(from, Math.min(PAGE_SIZE, countMax - objects.length));
    for (const { Key, Size } of page.Contents ?? [])
      if (Key !== undefined && !Key.endsWith('/')) objects.push({ key: Key, bytes: Size ?? 0 });
    from = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (from !== undefined && objects.length < countMax);
  return objects;
}

const byKey = (a: S3Object, b: S3Object): number => (a.key < b.key ? -1 : 1);

async function openClient(settings: S3Settings) {
  const sdk = await loadS3Client();
  const before = process.env[QUIET];
  process.env[QUIET] = 'true';
  try {
    return { sdk, client: new sdk.S3Client(clientConfig(settings)) };
  } finally {
    if (before === undefined) delete process.env[QUIET];
    else process.env[QUIET] = before;
  }
}

type OpenedClient = Awaited<ReturnType<typeof openClient>>;

/** Its packages are optional: installations without a bucket do not need them. */
async function loadS3Client() {
  const [client, { Upload }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/lib-storage'),
  ]).catch((error: unknown) => {
    throw missingPartOf(error) ?? error;
  });
  return { ...client, Upload };
}

function clientConfig({ endpoint, region, isPathStyle, credentials }: S3Settings): S3ClientConfig {
  return {
    region,
    forcePathStyle: isPathStyle,
    // Servers other than AWS do not support default checksums; `put` requests its checksum explicitly.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS_MAX, socketTimeout: SILENT_MS_MAX },
    ...(endpoint === null ? {} : { endpoint }),
    ...(credentials === null ? {} : { credentials }),
  };
}

function encryptionOf({ encryption, kmsKeyId }: S3Settings) {
  if (encryption === null) return {};
  return {
    ServerSideEncryption: encryption,
    ...(encryption === 'aws:kms' && kmsKeyId !== null ? { SSEKMSKeyId: kmsKeyId } : {}),
  };
}

function nullWhenMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

interface Measured {
  readonly hash: Hash;
  bytes: number;
  /** What the source threw; null while it has not. */
  failed: unknown;
}

/** What an upload sends: counted and hashed while it is read. */
const measured = (): Measured => ({ hash: createHash('sha256'), bytes: 0, failed: null });

function bodyOf(content: AsyncIterable<Uint8Array> | Uint8Array, written: Measured): Uint8Array | Readable {
  if (content instanceof Uint8Array) {
    count(content, written);
    return content;
  }
  return Readable.from(counted(content, written), { objectMode: false });
}

function count(chunk: Uint8Array, written: Measured): void {
  written.hash.update(chunk);
  written.bytes += chunk.byteLength;
}

/** Only what its source throws is kept: an aborted upload ends the source with an error of its own. */
async function* counted(content: AsyncIterable<Uint8Array>, written: Measured): AsyncGenerator<Uint8Array> {
  const source = content[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await source.next().catch((error: unknown) => {
        written.failed = error;
        throw error;
      });
      if (next.done === true) return;
      count(next.value, written);
      yield next.value;
    }
  } finally {
    await source.return?.();
  }
}
