/**
 * Collected results and reports in a bucket: `results/<run>/<key>/<name>`, for whichever machine asks.
 * Owns their place there; names are held to the rules of a folder, so that a download never leaves its own.
 */
import { buffer } from 'node:stream/consumers';
import type { Results } from '../../ports/results.ts';
import { resultParts } from './results-directory.ts';
import type { S3Bucket } from './s3-bucket.ts';

/** @throws ParleyError invalid_request for a name that is none in a folder, store_unavailable */
export function createS3Results(bucket: S3Bucket): Results {
  const place = (file: Parameters<Results['read']>[0]): string => ['results', ...resultParts(file)].join('/');
  return {
    async write(file, content) {
      await bucket.put(place(file), content);
    },
    async read(file) {
      const content = await bucket.get(place(file));
      return content === null ? null : await buffer(content);
    },
    names: async (runId, countMax) => await bucket.keysBelow(`results/${runId}/`, countMax),
    location: (runId) => bucket.address(`results/${runId}`),
  };
}
