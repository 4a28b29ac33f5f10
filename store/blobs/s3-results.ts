/**
 * Blobs in a bucket, and collected results and reports: `results/<run>/<key>/<name>`, for all machines.
 * Owns their place there; names follow the rules of a folder, so that a download never leaves its own.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { BlobStore } from '../../ports/blob-store.ts';
import type { ResultName, Results } from '../../ports/results.ts';
import { blobKeyParts } from './blob-key.ts';
import { isResultName, resultParts } from './results-directory.ts';
import type { S3Bucket } from './s3-bucket.ts';

/** Longest name of a file or folder that common file systems take, and longest key of S3 with room for a prefix. */
const PART_BYTES_MAX = 255;
const KEY_BYTES_MAX = 800;

/** @throws ParleyError invalid_request for a name that no folder accepts, store_unavailable */
export function createS3Results(bucket: S3Bucket): Results {
  const place = (file: ResultName): string => ['results', ...resultParts(file)].join('/');
  const files: Results['files'] = async ({ runId, key }, countMax) => {
    const start = `results/${key === null ? runId : `${runId}/${key}`}/`;
    const objects = await bucket.objectsBelow(start, countMax);
    // Objects that other programs put there under other names are not results.
    return objects.flatMap((one) => (isResultName(one.key) ? [{ name: one.key, bytes: one.bytes }] : []));
  };
  return {
    async write(file, content) {
      await bucket.put(requireShort(place(file)), content);
    },
    async read(file, bytesMax = Infinity) {
      const content = await bucket.get(place(file));
      return content === null ? null : await beginningOf(content, bytesMax);
    },
    files,
    names: async (runId, countMax) => (await files({ runId, key: null }, countMax)).map(({ name }) => name),
    location: (runId) => bucket.address(`results/${runId}`),
  };
}

/** A name that no folder accepts is refused here, too: a download must not fail because of one agent's file. */
function requireShort(key: string): string {
  const isShort =
    Buffer.byteLength(key) <= KEY_BYTES_MAX &&
    key.split('/').every((part) => Buffer.byteLength(part) <= PART_BYTES_MAX);
  if (isShort) return key;
  throw new ParleyError(
    'invalid_request',
    `Cannot keep the result "${key.slice(0, 100)}…": its name is too long`,
  );
}

async function beginningOf(content: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax === Infinity ? undefined : bytesMax);
}

/** @throws ParleyError invalid_request for a key that is no plain relative path, store_unavailable */
export function createS3Blobs(bucket: S3Bucket): BlobStore {
  const place = (key: string): string => ['blobs', ...blobKeyParts(key)].join('/');
  return {
    put: async (key, content) => await bucket.put(place(key), content),
    get: async (key) => await bucket.get(place(key)),
    remove: async (key) => await bucket.remove(place(key)),
  };
}
