/**
 * The form of `store.blobs`: the bucket of an object store in which archives and results live.
 * Owns forms and bounds; what belongs together is in blocks/blobs-block.ts.
 */
import { z } from 'zod';
import { block, fitting, oneOf, secret, text } from './schema-forms.ts';

/** What every server of S3's protocol takes: a part of a host's name may be made of it. */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** No path: it would be signed, and servers differ in what they sign. A user in it would be a secret in clear (D20). */
const ENDPOINT = /^https?:\/\/[^\s?#@/]+\/?$/;
const REGION = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/;
/** Folders of plain names; as long as leaves room for the longest key in the 1,024 bytes of S3. */
const PREFIX = /^(?=.{1,200}$)(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)*$/;

export const blobs = block(
  'Where archives of workspaces and results of runs live, for every process of the deployment. They are files of folders without it.',
  {
    s3: z
      .strictObject({
        bucket: z.string().regex(BUCKET).meta({
          description: 'Name of the bucket, which must exist. Nothing in it is made or removed but objects.',
        }),
        endpoint: fitting(ENDPOINT, 'Address of the server, http: or https: and host. Leave it out for AWS.'),
        region: fitting(REGION, 'Region of the bucket. Without it AWS_REGION counts.'),
        prefix: fitting(
          PREFIX,
          'What every key begins with, without a slash at its end. Installations differ by it.',
        ),
        path_style: z
          .boolean()
          .meta({
            description:
              'Whether the bucket stands in the path of an address. It does where there is an endpoint, unless it says false.',
          })
          .optional(),
        encryption: oneOf(
          ['AES256', 'aws:kms'],
          'Encryption that every object asks for. The bucket decides where it is left out.',
        ),
        kms_key_id: text('Key of aws:kms. Without it the one of the account counts.'),
        access_key_id: secret(
          'Id of the access key as os.environ/NAME. Without it the SDK of AWS looks for one.',
        ),
        secret_access_key: secret('Secret of that key as os.environ/NAME. Both are written, or none.'),
      })
      .meta({
        description:
          'A bucket of a server that speaks the protocol of S3. Nobody else writes below its prefix.',
      }),
  },
);
