/**
 * Two runs and a service on one data directory at once, and one through `--server`: each finishes with its own results.
 * The owner of the two runs is killed in the middle, and the other process goes on in its place.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProgramEnd, RunningProgram } from './running-program.ts';
import { CUT_CALLS, openUpgradeBatch, recordsIn, type UpgradeBatch } from './upgrade-batch.ts';

const ALL_MS_MAX = 600_000;
const PART = ['--limit', '2', '--concurrency', '2'];

let batch: UpgradeBatch;
let services: RunningProgram[] = [];

beforeAll(async () => {
  batch = await openUpgradeBatch({
    repositories: 2,
    edits: [['gateway.yaml', 'latency_ms: 50', 'latency_ms: 300'], CUT_CALLS],
  });
}, ALL_MS_MAX);
afterAll(() => {
  for (const service of services) service.kill();
  return batch.close();
});

const lastRecord = ({ stdout }: ProgramEnd) => recordsIn(stdout).at(-1);
const run = (id: string, ...more: readonly string[]): RunningProgram =>
  batch.start(['run', 'job.yaml', '--json', '--run-id', id, ...PART, ...more]);

it(
  'hands a second run to the owner of the directory, and goes on when that is killed',
  async () => {
    const owner = batch.start(['run', 'job.yaml', '--plain', '--run-id', 'owner', ...PART]);
    await owner.says(/: working/);
    const guest = batch.start(['run', 'job.yaml', '--plain', '--run-id', 'guest', ...PART]);
    expect(await guest.says(/owns the data directory and carries this out; it is watched from here/)).toBe(
      true,
    );
    expect(await guest.says(/: (?:working|starting)/)).toBe(true);
    owner.kill();
    expect(await guest.says(/which carried this out, has ended; going on/)).toBe(true);
    const ended = await guest.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain('this process owns the data directory now');
    // The work that the killed process began is not lost either.
    const resumed = await batch.run(['resume', 'own', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(lastRecord(resumed)).toMatchObject({ run_id: 'owner', ended: { succeeded: 2 } });
  },
  ALL_MS_MAX,
);

it(
  'runs two beside a service, and one through it, each with its own results',
  async () => {
    const keyed = await batch.run(['key', 'create', '--user', 'ann', '--json']);
    const key = String(lastRecord(keyed)?.['key']);
    const other = await batch.run(['key', 'create', '--user', 'ben', '--json']);
    const service = batch.start(['serve', '--port', '0', '--json', '--access-log']);
    services = [service];
    const url = await service.line(/"url":"([^"]+)"/);
    const as = (name: unknown) => ({ PARLEY_API_KEY: String(name) });
    const submitted = batch.start(
      ['run', 'job.yaml', '--json', '--run-id', 'remote', ...PART, '--server', url],
      as(key),
    );
    const runs = await Promise.all([run('first').ended, run('second').ended, submitted.ended]);
    for (const [index, id] of ['first', 'second', 'remote'].entries()) {
      const end = runs[index];
      expect(end?.code, end?.stderr).toBe(0);
      const record = end === undefined ? undefined : lastRecord(end);
      expect(record).toMatchObject({ type: 'done', run_id: id, ended: { succeeded: 2 } });
      const results = String(record?.['results']);
      expect(path.basename(results)).toBe(id);
      expect(filesBelow(results).filter((name) => name.endsWith('changes.patch'))).toHaveLength(2);
    }
    const theirs = await batch.run(['status', '--json', '--server', url], as(key));
    expect(recordsIn(theirs.stdout).map((record) => record['run_id'])).toEqual(['remote']);
    const foreign = await batch.run(
      ['status', 'remote', '--json', '--server', url],
      as(lastRecord(other)?.['key']),
    );
    expect(foreign.code).toBe(2);
    expect(foreign.stderr).toContain('Cannot find the run "remote"');
  },
  ALL_MS_MAX,
);

function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    try {
      return readFileSync(path.join(folder, name)).length >= 0;
    } catch {
      return false;
    }
  });
}
