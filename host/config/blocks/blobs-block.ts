/**
 * The block `store.blobs`: the bucket in which archives and results live.
 * Owns its defaults, opening its key, and what does not belong together; must not connect, and must not repeat a key (D20).
 */
import type { S3Settings } from '../../../store/blobs/s3-settings.ts';
import { errorAt, openReference, type ConfigParts } from '../config-parts.ts';
import type { DeploymentDocument } from '../schema/deployment-schema.ts';
import type { Problem } from '../problem.ts';

type Written = NonNullable<NonNullable<DeploymentDocument['store']>['blobs']>['s3'];

/** The region that servers other than AWS accept, whatever they call theirs. */
const REGION_ELSEWHERE = 'us-east-1';
const REGION_VARIABLES = ['AWS_REGION', 'AWS_DEFAULT_REGION'] as const;
const KEYS = ['access_key_id', 'secret_access_key'] as const;

export function readBlobsBlock(parts: ConfigParts): {
  readonly bucket: S3Settings | null;
  readonly problems: readonly Problem[];
} {
  const written = parts.document.store?.blobs?.s3;
  if (written === undefined) return { bucket: null, problems: [] };
  const problems: Problem[] = [];
  const wrong = (key: keyof Written, message: string, remedy: string): void =>
    void problems.push(errorAt(parts, ['store', 'blobs', 's3', key], { message, remedy }));
  const endpoint = endpointOf(written, wrong);
  const region = regionOf(parts, written);
  if (region === null)
    wrong('bucket', 'Cannot use the bucket: its region is not named', 'write "region", or set AWS_REGION');
  if (written.kms_key_id !== undefined && written.encryption !== 'aws:kms')
    wrong(
      'kms_key_id',
      'Cannot use "store.blobs.s3.kms_key_id": "encryption" is not "aws:kms"',
      'write encryption: "aws:kms", or leave the key out',
    );
  const credentials = credentialsOf(parts, written, wrong);
  if (problems.length > 0) return { bucket: null, problems };
  const bucket = {
    ...{ bucket: written.bucket, endpoint, region: region ?? REGION_ELSEWHERE, prefix: written.prefix ?? '' },
    isPathStyle: written.path_style ?? endpoint !== null,
    encryption: written.encryption ?? null,
    kmsKeyId: written.kms_key_id ?? null,
    credentials,
  };
  return { bucket, problems };
}

type Wrong = (key: keyof Written, message: string, remedy: string) => void;

function endpointOf({ endpoint }: Written, wrong: Wrong): string | null {
  if (endpoint === undefined) return null;
  if (URL.canParse(endpoint)) return endpoint.replace(/\/$/, '');
  wrong(
    'endpoint',
    `Cannot use "store.blobs.s3.endpoint": "${endpoint}" is no address`,
    'write the address of the server, such as https://minio.example.com:9000',
  );
  return null;
}

/** Null where neither file nor environment names one: at AWS there is no region that fits every bucket. */
function regionOf({ env }: ConfigParts, { region, endpoint }: Written): string | null {
  const named = REGION_VARIABLES.map((name) => env[name] ?? '').find((value) => value !== '');
  return region ?? named ?? (endpoint === undefined ? null : REGION_ELSEWHERE);
}

/** Null leaves them to the SDK. */
function credentialsOf(parts: ConfigParts, written: Written, wrong: Wrong): S3Settings['credentials'] {
  const there = KEYS.filter((key) => written[key] !== undefined);
  const [only] = there;
  if (only === undefined) return null;
  if (there.length === 1) {
    const message = `Cannot use "store.blobs.s3.${only}" alone: the id of a key and its secret belong together`;
    wrong(only, message, 'write both, or leave both out');
    return null;
  }
  const [accessKeyId, secretAccessKey] = KEYS.map((key) => {
    const reference = written[key] ?? '';
    const value = openReference(reference, parts.env);
    const variable = reference.slice('os.environ/'.length);
    if (value === null)
      wrong(key, `Cannot use the bucket: environment variable "${variable}" is not set`, `set ${variable}`);
    return value ?? '';
  });
  return { accessKeyId: accessKeyId ?? '', secretAccessKey: secretAccessKey ?? '' };
}
