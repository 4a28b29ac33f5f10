/** Results that live elsewhere: commands read them, an ended run is copied, and an unreachable store is reported. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { stageRows } from '../../cli/job/staged-rows.ts';
import { runId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { LocalResults } from '../../ports/results.ts';
import { copiedResults } from '../../store/blobs/copied-results.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost } from './fake-host.ts';
import { fakeShell } from './fake-shell.ts';
import { demoPlan, FINISHED, itemRow, RUN, runRow, SUCCEEDED } from './rows.ts';

const ID = runId(RUN);

/** As a bucket: elsewhere, under an address that is no folder. */
function elsewhere(): { readonly results: LocalResults; readonly copies: string } {
  const [remote, copies] = [createResultsDirectory(tempDir()), path.join(tempDir(), 'out')];
  const named = { ...remote, location: (id: string) => `s3://bucket/results/${id}` };
  return { results: copiedResults(named, createResultsDirectory(copies)), copies };
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

async function watch(results: LocalResults, command: readonly string[]) {
  const cwd = tempDir();
  const rows = { row: runRow(FINISHED), items: [itemRow('first', SUCCEEDED), itemRow('second', SUCCEEDED)] };
  const shell = fakeShell({ cwd, host: fakeHost({ rows, plan: demoPlan(), results }) });
  const code = await runCli([...command], shell);
  return { code, shell };
}

describe('results that live elsewhere', () => {
  it('are copied when a run has ended, hostile names and all', async () => {
    const { results, copies } = elsewhere();
    const name = 'files/\u202Eevil <b>.txt';
    await results.write({ runId: ID, key: 'first', name }, bytes('one'));
    await results.write({ runId: ID, key: null, name: 'report.md' }, bytes('# all'));
    const { code, shell } = await watch(results, ['resume', RUN, '--plain']);
    expect([code, shell.stderr.text]).toEqual([0, expect.not.stringContaining('Cannot')]);
    expect(readFileSync(path.join(copies, RUN, 'first', name), 'utf8')).toBe('one');
    expect(shell.stdout.text).toContain(`results: ${path.join(copies, RUN)}`);
  });

  it('that cannot be read change nothing of how a run ended', async () => {
    const { results, copies } = elsewhere();
    const away = (): Promise<never> =>
      Promise.reject(new ParleyError('store_unavailable', 'Cannot list s3://bucket: it is away'));
    const { code, shell } = await watch({ ...results, read: away, names: away, fetch: away }, [
      'resume',
      RUN,
      '--plain',
    ]);
    expect(code).toBe(0);
    expect(shell.stderr.text).toContain(
      'Cannot read the results of the run: Cannot list s3://bucket: it is away',
    );
    expect(shell.stdout.text).toContain(`results: s3://bucket/results/${RUN}`);
    expect(existsSync(copies)).toBe(false);
  });

  it('of a thousand files come, and one that is in the way spoils none', async () => {
    const { results, copies } = elsewhere();
    const names = Array.from({ length: 1_000 }, (_, index) => `files/${index}`);
    for (let at = 0; at < names.length; at += 200)
      await Promise.all(
        names.slice(at, at + 200).map((name) => results.write({ runId: ID, key: 'k', name }, bytes(name))),
      );
    mkdirSync(path.join(copies, RUN, 'k/files/77'), { recursive: true });
    const { files, left } = await results.fetch(ID, () => true);
    expect([files.length, left]).toEqual([999, ['k/files/77']]);
    expect((await results.fetch(runId('nothing'), () => true)).files).toEqual([]);
  });

  it('are read for the rows of a stage, and no others are copied for them', async () => {
    const { results, copies } = elsewhere();
    await results.write({ runId: ID, key: 'a', name: 'files/rows.jsonl' }, bytes('{"n":1}\n'));
    await results.write({ runId: ID, key: 'b', name: 'files/rows.jsonl' }, bytes('{"n":2}'));
    await results.write({ runId: ID, key: 'other', name: 'files/large' }, bytes('x'));
    const items = ['a', 'b', 'other'].map((key) => ({ key, entry: key === 'other' ? 'other' : 'list' }));
    const plan = { ...demoPlan(), items } as unknown as Plan;
    const read = await stageRows({ plan, results, runId: ID, also: ['list'] });
    expect(read('list', 'rows.jsonl')).toEqual({ chunks: ['{"n":1}\n', '{"n":2}\n'] });
    expect(read('list', 'none.jsonl')).toEqual({ problem: 'missing' });
    expect(read('list', '../../../etc/passwd')).toEqual({ problem: 'missing' });
    expect(read('other', 'large')).toBe('pending');
    expect(existsSync(path.join(copies, RUN, 'other'))).toBe(false);
  });
});
