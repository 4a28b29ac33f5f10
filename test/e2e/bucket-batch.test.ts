/**
 * The first batch with its records on PostgreSQL and its files in a bucket of a real server: what it made is had from any
 * folder, byte for byte, and a server that dies in the middle of it costs nothing (D34).
 */
import { execFile } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { PLAIN, serve } from '../api/served.ts';
import { PARLEY } from '../cli/parley-program.ts';
import { describeWith } from '../helpers/requires.ts';
import { removeDir, tempDir } from '../helpers/temp-dir.ts';
import { startS3Server, type S3Server } from '../../scripts/s3-server-process.ts';
import { copyBatch, type BatchCopy } from './batch-copy.ts';
import { withRecords } from './normalized-report.ts';
import { startProgram, type ProgramEnd } from './running-program.ts';

const RUN = 'first-batch-bucket';
const START_MS_MAX = 600_000;
const SEAL_KEY = Buffer.alloc(32, 7).toString('base64');

/** Every file below a folder, by name. */
function filesBelow(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(path.join(folder, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(path.join(folder, name), 'base64')]));
}

function blobsKey({ settings }: S3Server): string {
  const { bucket, endpoint, prefix } = settings;
  const keys = 'access_key_id: os.environ/TEST_S3_ID, secret_access_key: os.environ/TEST_S3_SECRET';
  return `blobs: { s3: { bucket: ${bucket}, endpoint: '${endpoint ?? ''}', prefix: ${prefix}, ${keys} } }`;
}

function keysOf({ settings }: S3Server): Readonly<Record<string, string>> {
  const { accessKeyId = '', secretAccessKey = '' } = settings.credentials ?? {};
  return { TEST_S3_ID: accessKeyId, TEST_S3_SECRET: secretAccessKey };
}

/** A copy of the example whose deployment keeps its files in the bucket. */
function copyWithBucket(server: S3Server): BatchCopy {
  const copy = copyBatch('none');
  const [job, config] = [path.join(copy.example, 'job.yaml'), path.join(copy.example, 'parley.yaml')];
  writeFileSync(job, withRecords(readFileSync(job, 'utf8')));
  const text = readFileSync(config, 'utf8').replace(
    'store: { path: .parley }',
    `store: { path: .parley, ${blobsKey(server)} }`,
  );
  writeFileSync(config, text);
  return copy;
}

describeWith('s3-server', 'with files in a bucket', () => {
  describeWith('postgres', 'and records on PostgreSQL', () => {
    let server: S3Server;
    let postgres: PostgresServerProcess;
    let copy: BatchCopy;
    let env: Readonly<Record<string, string>>;
    let end: ProgramEnd;
    /** As the process that did the work left them on its own disk. */
    let made: ReadonlyMap<string, string>;
    let elsewhere: string;
    let checkout: string;

    beforeAll(async () => {
      [server, postgres] = await Promise.all([startS3Server(), startPostgres()]);
      const url = await postgres.createDatabase('bucket_batch');
      copy = copyWithBucket(server);
      env = {
        ...keysOf(server),
        ...{ PARLEY_STORE: 'postgres', PARLEY_DATABASE_URL: url, PARLEY_SEAL_KEY: SEAL_KEY },
      };
      end = await startProgram(copy, 'examples/first-batch/main.js', ['--run-id', RUN], env).ended;
      if (end.code !== 0) throw new Error(`Cannot run the batch: ${end.stderr}`);
      made = filesBelow(path.join(copy.resultsDir, RUN));
      checkout = path.join(copy.root, 'yaml.git');
      renameSync(path.join(copy.dataDir, 'repos/npm/yaml.git'), checkout);
      for (const gone of [copy.dataDir, copy.resultsDir]) rmSync(gone, { recursive: true });
      elsewhere = path.join(copy.root, 'elsewhere');
      mkdirSync(elsewhere);
      const text = `store: { path: other, ${blobsKey(server)} }\nruntime: { isolation: none }\n`;
      writeFileSync(path.join(elsewhere, 'parley.yaml'), text);
    }, START_MS_MAX);
    afterAll(async () => {
      copy.close();
      await Promise.all([server.stop(), postgres.close()]);
    });

    const parley = async (
      ...args: readonly string[]
    ): Promise<{ code: number; stdout: string; stderr: string }> =>
      await new Promise((resolve) => {
        const options = {
          cwd: elsewhere,
          env: { PATH: process.env['PATH'] ?? '', TMPDIR: path.join(copy.root, 't'), ...env },
        };
        execFile(process.execPath, [PARLEY, ...args], options, (error, stdout, stderr) =>
          resolve({
            code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1,
            stdout,
            stderr,
          }),
        );
      });

    it('ends well, copies what it made to its own folder, and is quiet about versions of Node', () => {
      expect([end.code, end.stderr]).toEqual([0, expect.not.stringMatching(/NodeVersionSupportWarning/)]);
      expect([...made.keys()]).toEqual(expect.arrayContaining(['esm-entry/trajectory.zip', 'report.html']));
      const stored = filesBelow(path.join(server.folder, 'an/installation/results', RUN));
      expect(stored).toEqual(made);
    });

    it('collects all of it from another folder, byte for byte', async () => {
      const { code, stdout, stderr } = await parley('collect', RUN);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain(path.join(elsewhere, 'out', RUN, 'report.html'));
      expect(filesBelow(path.join(elsewhere, 'out', RUN))).toEqual(made);
    });

    it('shows a conversation and applies its patch there', async () => {
      const shown = await parley('show', RUN, 'replace-substr');
      expect([shown.code, shown.stderr]).toEqual([0, '']);
      expect(shown.stdout).toContain(`s3://parley/an/installation/results/${RUN}/replace-substr`);
      const work = path.join(elsewhere, 'work');
      execFileSync('git', ['clone', '--quiet', '--branch', 'main', checkout, work], { stdio: 'pipe' });
      const applied = await parley('apply', RUN, 'replace-substr', '--to', work);
      expect([applied.code, applied.stderr]).toEqual([0, '']);
      const status = await parley('status', RUN);
      expect([status.code, status.stderr]).toEqual([0, '']);
    });

    it('writes its reports anew there, and has archives from their rows', async () => {
      const folder = path.join(elsewhere, 'out', RUN);
      removeDir(folder);
      const { code, stdout, stderr } = await parley('report', RUN);
      expect([code, stderr]).toEqual([0, '']);
      const written = stdout.trim().split('\n');
      expect(written.map((file) => path.relative(folder, file)).sort()).toEqual([
        'report.html',
        'report.jsonl',
        'report.md',
      ]);
      expect(filesBelow(folder).get('report.jsonl')).toBe(made.get('report.jsonl'));
      const archives = await parley('archive', 'verify');
      expect([archives.code, archives.stderr]).toEqual([0, '']);
      expect(archives.stdout).toMatch(/^[0-9a-f]{32} 1 {2}whole, \d+ members$/m);
      // Nothing of it needed a data directory of its own.
      expect(readdirSync(elsewhere).sort()).toEqual(['out', 'parley.yaml', 'work']);
    });

    it('gives all of it to clients of an API that another process serves', async () => {
      const folder = tempDir();
      mkdirSync(path.join(folder, 'data'));
      const config = `store: { ${blobsKey(server)} }\n${PLAIN}`;
      const served = await serve(folder, { config, env });
      const headers = { authorization: `Bearer ${served.key ?? ''}` };
      const route = `${served.url}/api/v1/runs/${RUN}/results`;
      const listed = (await (await fetch(route, { headers })).json()) as readonly string[];
      expect([...listed].sort()).toEqual([...made.keys()].sort());
      const bodies = new Map<string, string>();
      for (const name of listed) {
        const answer = await fetch(`${route}/file?name=${encodeURIComponent(name)}`, { headers });
        bodies.set(name, Buffer.from(await answer.arrayBuffer()).toString('base64'));
      }
      const reports = ['report.html', 'report.md'];
      for (const [name, body] of bodies) if (!reports.includes(name)) expect(body).toBe(made.get(name));
      expect(await served.end('SIGTERM')).toBe(0);
    });

    it('says what is wrong with a bucket, and what to do, before anybody works', async () => {
      const file = path.join(elsewhere, 'wrong.yaml');
      writeFileSync(
        file,
        readFileSync(path.join(elsewhere, 'parley.yaml'), 'utf8').replace(
          'bucket: parley',
          'bucket: nobodys',
        ),
      );
      const { code, stderr } = await parley('collect', RUN, '--config', 'wrong.yaml');
      expect(code).toBe(5);
      expect(stderr).toContain('the bucket "nobodys" does not exist');
      expect(stderr).toContain('store.blobs.s3.bucket');
    });
  });

  describe('and a server of it that dies in the middle', () => {
    it(
      'loses nothing: the batch waits, and ends as well as ever',
      async () => {
        const server = await startS3Server();
        const copy = copyWithBucket(server);
        try {
          const results = path.join(server.folder, 'an/installation/results', RUN);
          const running = startProgram(
            copy,
            'examples/first-batch/main.js',
            ['--run-id', RUN, '--json'],
            keysOf(server),
          );
          while (!hasFiles(results)) await new Promise((resolve) => setTimeout(resolve, 20));
          await server.kill();
          await new Promise((resolve) => setTimeout(resolve, 8_000));
          await server.start();
          const end = await running.ended;
          expect([end.code, end.stderr]).toEqual([0, expect.any(String)]);
          // The output said meanwhile why the batch waits.
          expect(end.stdout).toContain('store_unavailable: Cannot ');
          const made = filesBelow(path.join(copy.resultsDir, RUN));
          expect(filesBelow(results)).toEqual(made);
          const keys = ['replace-substr', 'esm-entry', 'choice-suggestions'];
          const wanted = keys.flatMap((key) => [`${key}/changes.patch`, `${key}/trajectory.zip`]);
          expect([...made.keys()]).toEqual(expect.arrayContaining([...wanted, 'report.md', 'report.html']));
        } finally {
          copy.close();
          await server.stop();
        }
      },
      START_MS_MAX,
    );
  });
});

function hasFiles(folder: string): boolean {
  try {
    return filesBelow(folder).size > 0;
  } catch {
    return false;
  }
}
