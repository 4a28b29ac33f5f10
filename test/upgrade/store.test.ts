/**
 * The last release and this one over one store, both as programs: a batch that the old one began and was killed in, the
 * records that it left, and the way back, which is refused and loses nothing.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installedLastRelease } from '../../scripts/last-release.js';
import { postgresMissing, startPostgres, type PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { ledgerRows, sumOf } from '../e2e/ledger.ts';
import type { ProgramEnd } from '../e2e/running-program.ts';
import { openUpgradeBatch, recordsIn, type Programs, type UpgradeBatch } from '../e2e/upgrade-batch.ts';
import { describeWith } from '../helpers/requires.ts';

const RUN_ID = 'crossing';
const KEY = 'acme/service-001';
const ITEMS = 3;
const ALL_MS_MAX = 300_000;
const KINDS = postgresMissing() === null ? ['SQLite', 'PostgreSQL'] : ['SQLite'];

type Record = Readonly<{ [name: string]: unknown }>;
type Told = Readonly<{ run: Record; items: readonly Record[] }>;

/** `parley status`, of whichever build. Sandboxes are paused after their run has ended, by the worker then. */
async function told(programs: Programs): Promise<Told> {
  const { code, stdout, stderr } = await programs.run(['status', RUN_ID, '--json']);
  expect(code, stderr).toBe(0);
  const records = recordsIn(stdout);
  return {
    run: records.find(({ type }) => type === 'run') ?? {},
    items: records.filter(({ type }) => type === 'item').map(({ sandbox_status: _later, ...item }) => item),
  };
}

for (const kind of KINDS)
  describeWith('last-release', `a store of the last release on ${kind}`, () => {
    let batch: UpgradeBatch;
    let old: Programs;
    let server: PostgresServerProcess | undefined;
    let before: Told;
    /** Of the new build, before it has opened the store for writing. */
    let early: ProgramEnd;
    let end: ProgramEnd;
    let after: Told;
    beforeAll(async () => {
      server = kind === 'PostgreSQL' ? await startPostgres() : undefined;
      const database = await server?.createDatabase('crossing');
      batch = await openUpgradeBatch({
        repositories: ITEMS,
        env: database === undefined ? {} : { PARLEY_STORE: 'postgres', PARLEY_DATABASE_URL: database },
        edits: [
          ['gateway.yaml', 'latency_ms: 50', 'latency_ms: 200'],
          // Its sandboxes stay, paused: the next build finds them as the old one would.
          ['job.yaml', 'cleanup: { sandbox: delete }', 'cleanup: { sandbox: pause }'],
          // A call that is under way at the kill is billed, and no answer says whose it was.
          ['job.yaml', 'expect: { unmatched_usd: 0 }', 'expect: { unmatched_usd: 1 }'],
        ],
      });
      old = batch.installedIn(installedLastRelease(process.env) ?? '');
      const part = ['--limit', String(ITEMS), '--concurrency', '2'];
      const first = old.start(['run', 'job.yaml', '--plain', '--run-id', RUN_ID, ...part]);
      expect(await first.says(/: succeeded/)).toBe(true);
      first.kill();
      await first.ended;
      before = await told(old);
      early = await batch.run(['status', RUN_ID]);
      end = await batch.run(['resume', RUN_ID, '--json']);
      after = await told(batch);
    }, ALL_MS_MAX);
    afterAll(async () => {
      await batch?.close();
      await server?.close();
    });

    it('is not read before it was opened for writing, and the message says so', () => {
      expect(early.code).not.toBe(0);
      expect(early.stderr).toContain('its schema lacks "');
      expect(early.stderr).toContain('open it for writing once, which migrates it');
    });

    it('has what was begun go on to its end, with the plan that it had', () => {
      expect(end.code, end.stderr).toBe(0);
      expect(before.run).toMatchObject({ phase: 'running', total: ITEMS });
      expect(Number(before.run['in_flight'])).toBeGreaterThan(0);
      expect(after.run).toMatchObject({
        phase: 'finished',
        plan_hash: before.run['plan_hash'],
        created_at: before.run['created_at'],
        ended: { succeeded: ITEMS },
      });
      expect(after.items.map(({ attempt }) => attempt)).toEqual(Array(ITEMS).fill(1));
    });

    it('keeps the records of what had ended, and the conversations of what had begun', () => {
      const ended = before.items.filter(({ phase }) => phase === 'ended');
      expect(ended.length).toBeGreaterThan(0);
      expect(after.items).toEqual(expect.arrayContaining([...ended]));
      const begun = before.items.filter(({ conversation_id: id }) => id !== null);
      const idOf = (key: unknown) => after.items.find((item) => item['key'] === key)?.['conversation_id'];
      expect(begun.map(({ key }) => idOf(key))).toEqual(begun.map(({ conversation_id: id }) => id));
    });

    it('has the rows of both builds in one report, and they equal the bill', () => {
      const billed = Number(sumOf(ledgerRows(batch.copy)));
      const { spent_nano_usd: spent, reconciliation } = after.run as {
        readonly spent_nano_usd: number;
        readonly reconciliation: Readonly<{ [name: string]: number }>;
      };
      expect(reconciliation['total_nano_usd']).toBe(billed);
      expect(Number(reconciliation['assigned_nano_usd'])).toBe(spent);
      expect(spent + Number(reconciliation['unassigned_nano_usd'])).toBe(billed);
      // Only an answer that the killed process had not written down may belong to no conversation.
      expect(Number(reconciliation['rows']) - 4 * ITEMS).toBeLessThanOrEqual(2);
    });

    it('shows, lists and reports what the old build did', async () => {
      const shown = await batch.run(['show', RUN_ID, KEY, '--json']);
      expect(shown.code, shown.stderr).toBe(0);
      expect(recordsIn(shown.stdout)[0]).toMatchObject({ type: 'story', key: KEY, outcome: 'succeeded' });
      const listed = await batch.run(['show', RUN_ID]);
      expect(listed.stdout.match(/acme\/service-\d+ .*succeeded/g)).toHaveLength(ITEMS);
      const report = await batch.run(['report', RUN_ID]);
      expect(report.code, report.stderr).toBe(0);
      expect(readFileSync(path.join(batch.copy.resultsDir, RUN_ID, 'report.md'), 'utf8')).toContain(KEY);
    });

    it('is refused by the last release from then on, which names both versions and changes nothing', async () => {
      const refused = await old.run(['resume', RUN_ID]);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toMatch(/its schema "\d{4}-[\w-]+" is newer than this program's "0001-schema"/);
      expect(await told(batch)).toEqual(after);
    });
  });
