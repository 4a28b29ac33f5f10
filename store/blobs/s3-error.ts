/**
 * What a refusal or the silence of an object store means, and what to do about it.
 * Owns the words; a key of the store is never among them (D20).
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { S3Settings } from './s3-settings.ts';

interface Meaning {
  readonly state: string;
  readonly remedy: string;
}

type Failure = Error & { readonly code?: unknown; readonly $metadata?: { readonly httpStatusCode?: number } };

/** Names of S3's answers that say who asked, and with what. */
const REFUSED = new Set(['AccessDenied', 'InvalidAccessKeyId', 'SignatureDoesNotMatch', 'ExpiredToken']);
const OTHER_REGION = new Set([
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]);
const UNREACHABLE =
  /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|CERT|SELF_SIGNED|UNABLE_TO|DEPTH_ZERO|ERR_TLS)/;

/** An error that waiting may mend, whatever it is: an operator mends a bucket or a key while the work waits. */
export function s3Error(doing: string, cause: unknown, settings: S3Settings): ParleyError {
  if (cause instanceof ParleyError) return cause;
  const failure = (cause instanceof Error ? cause : new Error(String(cause))) as Failure;
  const { state, remedy } = meaningOf(failure, settings);
  return new ParleyError('store_unavailable', `${doing}: ${state}`, { cause, remedy });
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error.name === 'NoSuchKey' || error.name === 'NotFound');
}

function meaningOf(failure: Failure, { bucket, endpoint, region }: S3Settings): Meaning {
  const { name, message } = failure;
  const status = failure.$metadata?.httpStatusCode;
  const server = endpoint ?? `S3 of AWS in ${region}`;
  if (name === 'NoSuchBucket')
    return {
      state: `the bucket "${bucket}" does not exist`,
      remedy: `make it at ${server}, or correct store.blobs.s3.bucket`,
    };
  if (name === 'CredentialsProviderError')
    return {
      state: 'there is no access key',
      remedy: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name variables in store.blobs.s3',
    };
  if (OTHER_REGION.has(name) || status === 301)
    return {
      state: `the bucket "${bucket}" is not in the region "${region}"`,
      remedy: 'correct store.blobs.s3.region or AWS_REGION',
    };
  if (REFUSED.has(name) || status === 401 || status === 403)
    return {
      state: `access is refused (${name})`,
      remedy: 'look at the access key and at what it may do: docs/object-store.md, "Permissions"',
    };
  const code = typeof failure.code === 'string' ? failure.code : '';
  if (UNREACHABLE.test(code) || name === 'TimeoutError')
    return {
      state: `${server} cannot be reached (${code === '' ? name : code})`,
      remedy: 'look whether it runs, and at store.blobs.s3.endpoint',
    };
  return { state: message === '' ? name : message, remedy: 'look at the log of the object store' };
}
