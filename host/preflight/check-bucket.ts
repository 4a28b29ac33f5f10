/**
 * Whether the bucket of a deployment takes, lists, gives and removes an object, in as much time as a preflight has.
 * Owns the try; must leave nothing behind.
 */
import { randomUUID } from 'node:crypto';
import { asParleyError } from '../../core/parley-error.ts';
import { createS3Bucket } from '../../store/blobs/s3-bucket.ts';
import type { S3Settings } from '../../store/blobs/s3-settings.ts';
import { failed, passed, type Finding } from '../finding.ts';

const CHECK = 'bucket';
/** Its client tries again by itself, for longer than a user waits for a check. */
const LOOK_MS_MAX = 15_000;

export async function checkBucket(settings: S3Settings): Promise<Finding> {
  const bucket = createS3Bucket(settings);
  const key = `tries/${randomUUID()}`;
  const look = async (): Promise<Finding> => {
    await bucket.check();
    await bucket.put(key, Buffer.from('a try of parley'));
    if ((await bucket.get(key)) === null)
      return failed(CHECK, `${bucket.address(key)} is not there after it was written`, 'look at the server');
    await bucket.remove(key);
    return passed(CHECK, bucket.address(''));
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    const slow = failed(CHECK, `${bucket.address('')} does not answer`, 'look at store.blobs.s3.endpoint');
    timer = setTimeout(() => resolve(slow), LOOK_MS_MAX);
  });
  try {
    return await Promise.race([look(), late]);
  } catch (error) {
    const { message, remedy } = asParleyError(error);
    return failed(CHECK, message, remedy ?? 'look at store.blobs.s3');
  } finally {
    clearTimeout(timer);
    await bucket.close();
  }
}
