/**
 * How a bucket of an object store is reached.
 * Owns the shape; a deployment file gives it, and `s3-bucket.ts` opens it.
 */
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
