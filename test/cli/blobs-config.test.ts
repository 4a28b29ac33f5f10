/** The block `store.blobs`: values, keys by reference, and what does not belong together, at its place. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { explainDeployment } from '../../host/config/explain-deployment.ts';
import { loadDeployment } from '../../host/config/load-deployment.ts';
import { printProblem } from '../../host/config/problem.ts';
import { differences } from '../../host/follow/followed-configuration.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const SECRET = 'planted-secret-of-a-bucket';

async function load(s3: string, env: Record<string, string> = {}) {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'parley.yaml'), `store:\n  blobs:\n    s3: ${s3}\n`);
  return await loadDeployment({ path: null, cwd, env });
}

describe('the block store.blobs', () => {
  it('takes a bucket of AWS by its name and region', async () => {
    const { config } = await load('{ bucket: results, region: eu-central-1 }', { AWS_REGION: 'us-west-2' });
    expect(config?.bucket).toEqual({
      ...{ bucket: 'results', endpoint: null, region: 'eu-central-1', prefix: '', isPathStyle: false },
      ...{ encryption: null, kmsKeyId: null, credentials: null },
    });
    const named = await load('{ bucket: results }', { AWS_DEFAULT_REGION: 'us-west-2' });
    expect(named.config?.bucket?.region).toBe('us-west-2');
  });

  it('takes every value of the file, and looks for the bucket in the path where there is an endpoint', async () => {
    const text =
      '{ bucket: results, endpoint: "http://[::1]:9000/", prefix: a/b, encryption: "aws:kms", kms_key_id: k, access_key_id: os.environ/ID, secret_access_key: os.environ/SECRET }';
    const { config } = await load(text, { ID: 'id', SECRET });
    expect(config?.bucket).toEqual({
      ...{ bucket: 'results', endpoint: 'http://[::1]:9000', region: 'us-east-1', prefix: 'a/b' },
      ...{ isPathStyle: true, encryption: 'aws:kms', kmsKeyId: 'k' },
      credentials: { accessKeyId: 'id', secretAccessKey: SECRET },
    });
    const hosted = await load('{ bucket: results, endpoint: "https://s3.example.com", path_style: false }');
    expect(hosted.config?.bucket?.isPathStyle).toBe(false);
  });

  it.each([
    ['{ region: x }', /"store\.blobs\.s3"|bucket/],
    ['{ bucket: results }', /its region is not named/],
    ['{ bucket: "Results_1", region: x }', /bucket/],
    ['{ bucket: results, endpoint: minio.example.com }', /endpoint/],
    ['{ bucket: results, endpoint: "https://ada:planted-secret-of-a-bucket@minio.example.com" }', /endpoint/],
    ['{ bucket: results, endpoint: "http://minio.example.com:99999" }', /is no address/],
    ['{ bucket: results, region: x, prefix: a/../b }', /prefix/],
    ['{ bucket: results, region: x, prefix: /a }', /prefix/],
    ['{ bucket: results, region: x, encryption: rot13 }', /encryption/],
    ['{ bucket: results, region: x, encryption: AES256, kms_key_id: k }', /"encryption" is not "aws:kms"/],
    ['{ bucket: results, region: x, access_key_id: os.environ/ID }', /belong together/],
    [
      '{ bucket: results, region: x, access_key_id: os.environ/ID, secret_access_key: os.environ/NONE }',
      /variable "NONE" is not set/,
    ],
    [
      `{ bucket: results, region: x, access_key_id: os.environ/ID, secret_access_key: ${SECRET} }`,
      /secret_access_key/,
    ],
    ['{ bucket: results, region: x, acl: public }', /acl/],
  ])('refuses %s at its place, and repeats no secret', async (text, message) => {
    const { config, problems } = await load(text, { ID: 'id' });
    const said = problems.map((problem) => printProblem(problem)).join('');
    expect([config, said]).toEqual([null, expect.stringMatching(message)]);
    expect(said).toMatch(/parley\.yaml:3:\d+/);
    expect(said).not.toContain(SECRET);
  });

  it('is explained without its keys, and told from another one', async () => {
    const env = { ID: 'id', SECRET };
    const keys = 'access_key_id: os.environ/ID, secret_access_key: os.environ/SECRET';
    const loaded = await load(`{ bucket: results, region: x, ${keys} }`, env);
    const shown = JSON.stringify(explainDeployment(loaded, env));
    expect(shown).toContain('"store.blobs.s3.bucket","value":"results"');
    expect(shown).toContain('os.environ/SECRET (set)');
    expect(shown).not.toContain(SECRET);
    const [before, after] = [loaded.config, (await load('{ bucket: other, region: x }')).config];
    if (before === null || after === null) throw new Error('no configuration');
    expect(differences(before, after)).toContain('store.blobs');
  });
});
