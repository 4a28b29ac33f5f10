/** Blobs in a bucket. Owns their place there; `s3-bucket.ts` reads and writes. */
import type { BlobStore } from '../../ports/blob-store.ts';
import { blobKeyParts } from './blob-key.ts';
import type { S3Bucket } from './s3-bucket.ts';

/** @throws ParleyError invalid_request for a key that is no plain relative path, store_unavailable */
export function createS3Blobs(bucket: S3Bucket): BlobStore {
  const place = (key: string): string => ['blobs', ...blobKeyParts(key)].join('/');
  return {
    put: async (key, content) => await bucket.put(place(key), content),
    get: async (key) => await bucket.get(place(key)),
    remove: async (key) => await bucket.remove(place(key)),
  };
}
