/**
 * Every job of the cookbook is valid, laid out as `parley fmt` does, planned and simulated; every scenario holds.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCli } from '../../cli/program.ts';
import { jobSchema } from '../../dsl/schema/json-schema.ts';
import { fakeShell, type FakeShell } from '../cli/fake-shell.ts';

const FOLDER = path.join(import.meta.dirname, '../../examples/cookbook');
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
const text = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');
const jobs = files.filter((file) => /^kind: job$/m.test(text(file)));
const scenarios = files.filter((file) => !jobs.includes(file));
const acceptsJob = new Ajv({ allErrors: true, strictTypes: false }).compile(jobSchema());

async function run(
  ...argv: readonly string[]
): Promise<{ readonly code: number; readonly shell: FakeShell }> {
  const shell = fakeShell({ cwd: FOLDER });
  const code = await runCli(argv, shell);
  return { code, shell };
}

describe('examples/cookbook', () => {
  it('has at least 12 files', () => {
    expect(jobs.length + scenarios.length).toBeGreaterThanOrEqual(12);
    expect(scenarios.length).toBeGreaterThanOrEqual(1);
  });

  it.each(jobs)('%s is valid, for the compiler without a finding and for editors', async (file) => {
    const { code, shell } = await run('validate', file, '--format', 'json');
    expect(shell.stdout.text).toBe('[]\n');
    expect(code).toBe(0);
    acceptsJob(parse(text(file)));
    expect(acceptsJob.errors).toBeNull();
  });

  it.each(jobs)('%s is planned, and simulated to its end', async (file) => {
    const planned = await run('plan', file, '--json');
    expect(planned.shell.stderr.text).toBe('');
    const [, record] = planned.shell.stdout.text.trimEnd().split('\n');
    const { plan } = JSON.parse(record ?? '{}') as { plan: { items: { key: string }[] } };
    expect(plan.items.length).toBeGreaterThan(0);
    const played = await run('simulate', file, '--json');
    expect(played.code).toBe(0);
    const ended = played.shell.stdout.text.split('\n').filter((line) => line.includes('"type":"simulated"'));
    expect(ended.length).toBe(plan.items.length);
  });

  it.each(scenarios)('%s holds', async (file) => {
    const { code, shell } = await run('simulate', file);
    expect(shell.stdout.text).toMatch(/expectations? held\n$/);
    expect(code).toBe(0);
  });

  it('plans the upgrade of 200 repositories as its data file says', async () => {
    const rows = readFileSync(path.join(FOLDER, 'data/repos.csv'), 'utf8').trimEnd().split('\n').slice(1);
    const chosen = rows
      .map((row) => row.split(','))
      .filter(([, , , tier]) => tier !== 'frozen')
      .slice(0, 200);
    const gold = chosen.filter(([, , , tier]) => tier === 'gold').length;
    const { shell } = await run('plan', 'upgrade.yaml');
    expect(shell.stdout.text).toContain(`upgrade-lib: ${2 * chosen.length - gold} conversations, 60 at once`);
  });
});
