/**
 * Two builds at once over one database, as in an upgrade without a stop: an older worker and a newer one, whose schema has
 * been expanded, are two hosts of one deployment. What the one began goes on with the other, and an older worker may begin
 * again; once the schema is contracted it is refused (docs/upgrade.md).
 */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { MIGRATIONS } from '../../store/schema/migrations.ts';
import { describeWith } from '../helpers/requires.ts';
import { copyBatch, type BatchCopy } from './batch-copy.ts';
import type { ProgramEnd, RunningProgram } from './running-program.ts';
import { openTwoHosts, SLOW_SCRIPT, type TwoHosts } from './two-hosts.ts';
import { recordsIn } from './upgrade-batch.ts';

const ALL_MS_MAX = 600_000;
const POLL = { timeout: 300_000, interval: 50 };
const ITEMS = 20;
const NEWEST = Object.keys(MIGRATIONS).sort().at(-1) ?? '';

/** Tables that every process reads and writes all the time. */
const EXPANDED = `async (db) => {
  for (const table of ["host", "sandbox", "slot", "conversation", "proxy_peer", "spend"])
    await db.schema.alterTable(table).addColumn("of_the_next_build", "text", (column) => column.notNull().defaultTo("x")).execute();
}`;
const EXPANDING = { '9000-expand-all': EXPANDED };
const CONTRACTING = { ...EXPANDING, '9001-all': 'async () => undefined' };

describeWith('temporal', 'two builds', () => {
  describeWith('postgres', 'with one database', () => {
    describeWith('s3-server', 'and one bucket', () => {
      let hosts: TwoHosts;
      let newer: BatchCopy;
      let newest: BatchCopy;
      let older: RunningProgram;
      let next: RunningProgram;
      let end: ProgramEnd;
      const serving = new Set<RunningProgram>();
      const startWorker = async (...as: Parameters<TwoHosts['startWorker']>): Promise<RunningProgram> => {
        const worker = await hosts.startWorker(...as);
        serving.add(worker);
        return worker;
      };
      const stop = async (worker: RunningProgram): Promise<ProgramEnd> => {
        serving.delete(worker);
        process.kill(worker.pid, 'SIGTERM');
        return await worker.ended;
      };

      beforeAll(async () => {
        hosts = await openTwoHosts({}, { script: SLOW_SCRIPT });
        const job = path.join(hosts.copy.example, 'job.yaml');
        writeFileSync(job, readFileSync(job, 'utf8').replaceAll('text.md', 'slow.md'));
        newer = laterBuild(EXPANDING);
        newest = laterBuild(CONTRACTING);
        older = await startWorker('alpha');
        const run = hosts.start('alpha', ['run', 'job.yaml', '--json', '--run-id', 'both', ...LIMIT]);
        await vi.waitFor(() => expect(hosts.sandboxesOn('alpha').length).toBeGreaterThan(1), POLL);
        next = await startWorker('beta', newer.root);
        await vi.waitFor(() => expect(hosts.sandboxesOn('beta').length).toBeGreaterThan(1), POLL);
        end = await run.ended;
      }, ALL_MS_MAX);
      afterAll(async () => {
        await Promise.all([...serving].map(stop));
        newer?.close();
        newest?.close();
        await hosts?.close();
      }, ALL_MS_MAX);

      const succeeded = ({ code, stderr, stdout }: ProgramEnd): number => {
        expect(code, stderr).toBe(0);
        const ended = recordsIn(stdout).filter(({ type, phase }) => type === 'item' && phase === 'ended');
        const items = [...new Map(ended.map((item) => [item['key'], item])).values()];
        for (const item of items) expect(item).toMatchObject({ outcome: 'succeeded', attempt: 1 });
        return items.length;
      };

      it('work on one run, which the older one began, each conversation at its first attempt', () => {
        expect(succeeded(end)).toBe(ITEMS);
      });

      it(
        'go on with it when the older worker and its command line begin again over the newer schema',
        async () => {
          expect((await stop(older)).code).toBe(0);
          older = await startWorker('alpha');
          const flags = ['--json', '--run-id', 'of-the-newer', ...LIMIT];
          const begun = hosts.start('beta', ['run', 'job.yaml', ...flags], {}, newer.root);
          await vi.waitFor(() => expect(hosts.sandboxesOn('alpha').length).toBeGreaterThan(1), POLL);
          expect(succeeded(await begun.ended)).toBe(ITEMS);
          expect((await hosts.start('alpha', ['status', 'of-the-newer']).ended).code).toBe(0);
        },
        ALL_MS_MAX,
      );

      it(
        'are one after the schema was contracted: the older one is told to go',
        async () => {
          expect((await stop(older)).code).toBe(0);
          expect((await stop(next)).code).toBe(0);
          next = await startWorker('beta', newest.root);
          for (const args of [['worker'], ['status', 'both']]) {
            const refused = await hosts.start('alpha', args).ended;
            expect(refused.code).toBe(5);
            expect(refused.stderr).toContain(
              `its schema "9001-all" is newer than this program's "${NEWEST}", and does more than add to it; use the newer program`,
            );
          }
          const flags = ['--json', '--run-id', 'of-the-newest', '--limit', '4'];
          const ran = await hosts.start('beta', ['run', 'job.yaml', ...flags], {}, newest.root).ended;
          expect(succeeded(ran)).toBe(4);
        },
        ALL_MS_MAX,
      );
    });
  });
});

const LIMIT = ['--limit', String(ITEMS)];

/** Programs that have these migrations besides, by name and text. */
function laterBuild(migrations: Readonly<Record<string, string>>): BatchCopy {
  const copy = copyBatch('none', 'three-hundred');
  const folder = path.join(copy.root, 'dist');
  const more = Object.entries(migrations).map(([name, up]) => `"${name}": { up: ${up} },`);
  let changed = 0;
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.js'))) {
    const file = path.join(folder, name);
    const text = readFileSync(file, 'utf8');
    const own = `"${NEWEST}": {`;
    if (!text.includes(own)) continue;
    // Linked to the programs that all copies share.
    rmSync(file);
    writeFileSync(file, text.replace(own, `${more.join(' ')} ${own}`));
    changed += 1;
  }
  expect(changed).toBeGreaterThan(0);
  return copy;
}
