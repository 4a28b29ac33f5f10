/**
 * A bucket of an object store that speaks S3's protocol, below one prefix.
 * Owns the client, whole uploads and what an answer means; must not know what an object is for.
 */
import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ListObjectsV2CommandOutput, S3ClientConfig } from '@aws-sdk/client-s3';
import { ParleyError } from '../../core/parley-error.ts';
import type { BlobStore } from '../../ports/blob-store.ts';

export interface S3Settings {
  readonly bucket: string;
  /** Null: that of the region at AWS. */
  readonly endpoint: string | null;
  readonly region: string;
  /** Of every key, without slashes at its ends; empty for none. */
  readonly prefix: string;
  /** The bucket is in the path of an address and not in its host, as most servers beside AWS have it. */
  readonly isPathStyle: boolean;
  /** Null leaves it to the bucket. */
  readonly encryption: 'AES256' | 'aws:kms' | null;
  /** Key of `aws:kms`; null takes the one of the account. */
  readonly kmsKeyId: string | null;
  /** Null looks where the SDK of AWS looks: variables, profile, role of the machine. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

/** Its keys are any text that a key of S3 may be. */
export interface S3Bucket extends BlobStore {
  /** Keys that begin so, sorted, without `start`; at most `countMax`. */
  keysBelow(start: string, countMax: number): Promise<readonly string[]>;
  /** For a reader. */
  address(key: string): string;
  close(): void;
}

/** What S3 takes at least of every part but the last is 5 MiB; an upload holds two parts at a time. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;
/** Objects of one answer to a listing; S3 gives no more. */
const PAGE_SIZE = 1_000;

/** @throws Error its package is not installed */
export async function openS3Bucket(settings: S3Settings): Promise<S3Bucket> {
  const sdk = await loadS3Client();
  const client = new sdk.S3Client(clientConfig(settings));
  const { bucket: Bucket, prefix } = settings;
  const keyOf = (key: string): string => (prefix === '' ? key : `${prefix}/${key}`);
  const address = (key: string): string => `s3://${Bucket}/${keyOf(key)}`;
  const unreachable = (doing: string, key: string) => (cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ParleyError('store_unavailable', `Cannot ${doing} ${address(key)}: ${why}`, { cause });
  };
  return {
    async put(key, content) {
      const measured = { hash: createHash('sha256'), bytes: 0 };
      const failed: { cause: unknown } = { cause: null };
      const upload = new sdk.Upload({
        client,
        params: {
          ...{ Bucket, Key: keyOf(key), ChecksumAlgorithm: 'SHA256' },
          ...encryptionOf(settings),
          Body: bodyOf(content, measured, failed),
        },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
        // Parts of an upload that failed would be paid for until somebody finds them.
        leavePartsOnError: false,
      });
      await upload.done().catch((cause: unknown) => {
        if (failed.cause !== null) throw failed.cause;
        unreachable('write', key)(cause);
      });
      return { bytes: measured.bytes, sha256: measured.hash.digest('hex') };
    },
    async get(key) {
      const request = new sdk.GetObjectCommand({ Bucket, Key: keyOf(key) });
      const found = await client.send(request).catch(nullWhenMissing).catch(unreachable('read', key));
      return (found?.Body as AsyncIterable<Uint8Array> | undefined) ?? null;
    },
    async remove(key) {
      const request = new sdk.DeleteObjectCommand({ Bucket, Key: keyOf(key) });
      await client.send(request).catch(nullWhenMissing).catch(unreachable('remove', key));
    },
    keysBelow: async (start, countMax) => {
      const list = async (from: string | undefined, count: number): Promise<ListObjectsV2CommandOutput> => {
        const Prefix = keyOf(start);
        const more = from === undefined ? {} : { ContinuationToken: from };
        const request = new sdk.ListObjectsV2Command({ Bucket, Prefix, MaxKeys: count, ...more });
        return await client.send(request).catch(unreachable('list', start));
      };
      return (await allKeys(list, countMax)).map((key) => key.slice(keyOf(start).length)).sort();
    },
    address,
    close: () => client.destroy(),
  };
}

/** Answer by answer, until there are no more or enough of them. */
async function allKeys(
  list: (from: string | undefined, count: number) => Promise<ListObjectsV2CommandOutput>,
  countMax: number,
): Promise<readonly string[]> {
  const keys: string[] = [];
  let from: string | undefined;
  do {
    const page = await list(from, Math.min(PAGE_SIZE, countMax - keys.length));
    for (const { Key } of page.Contents ?? []) if (Key !== undefined && !Key.endsWith('/')) keys.push(Key);
    from = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (from !== undefined && keys.length < countMax);
  return keys;
}

/** Loaded where a bucket is opened, so that who has none never loads it. */
async function loadS3Client() {
  const [client, { Upload }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/lib-storage'),
  ]);
  return { ...client, Upload };
}

function clientConfig({ endpoint, region, isPathStyle, credentials }: S3Settings): S3ClientConfig {
  return {
    region,
    forcePathStyle: isPathStyle,
    // Servers beside AWS know no checksum that nobody asked them for; ours are asked for.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
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

/** Counted while it is read; why its source failed is kept, since a client wraps it in words of its own. */
function bodyOf(
  content: AsyncIterable<Uint8Array> | Uint8Array,
  measured: { readonly hash: Hash; bytes: number },
  failed: { cause: unknown },
): Uint8Array | Readable {
  const count = (chunk: Uint8Array): void => {
    measured.hash.update(chunk);
    measured.bytes += chunk.byteLength;
  };
  if (content instanceof Uint8Array) {
    count(content);
    return content;
  }
  return Readable.from(counted(content, count, failed), { objectMode: false });
}

/** Only what its source throws is kept: an upload that is given up ends it with an error of its own. */
async function* counted(
  content: AsyncIterable<Uint8Array>,
  count: (chunk: Uint8Array) => void,
  failed: { cause: unknown },
): AsyncGenerator<Uint8Array> {
  const source = content[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await source.next().catch((error: unknown) => {
        failed.cause = error;
        throw error;
      });
      if (next.done === true) return;
      count(next.value);
      yield next.value;
    }
  } finally {
    await source.return?.();
  }
}

function nullWhenMissing(error: unknown): null {
  const name = error instanceof Error ? error.name : '';
  if (name === 'NoSuchKey' || name === 'NotFound') return null;
  throw error;
}
