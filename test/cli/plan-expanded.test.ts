/** `parley plan --expanded`: each value with its origin, as lines and as records, of a job and of a saved plan. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell, recordsOf } from './fake-shell.ts';
import { expectGolden } from './golden-file.ts';

const FILES: Readonly<Record<string, string>> = {
  'base.yaml': `defaults:
  limits: { turns: 40 }
  tags: { team: core }
admission: { rate: 30/min }
`,
  'repos.csv': 'repo,tier\nacme/shop,gold\nacme/docs,low\n',
  'values.yaml': 'many: 3\n',
  'parley.yaml': `limits: { idle_time: 900 }
user: { grouping: add_to_any }
`,
  'job.yaml': `kind: job
version: 1
name: demo
extends: base.yaml
inputs:
  lib: { type: string, default: left-pad }
  many: { type: int, default: 2 }
defaults: { model: coder }
admission: { concurrency: '\${{ inputs.many }}' }
conversations:
  - id: up
    items: { csv: repos.csv }
    key: \${{ item.repo }}
    repo: { name: '\${{ item.repo }}' }
    extend:
      - { when: item.tier == 'gold', set: { limits: { usd: 5 } } }
    prompt: |
      Upgrade \${{ inputs.lib }}.
      Then run the tests.
`,
};

async function plan(...argv: readonly string[]) {
  const cwd = tempDir();
  for (const [file, text] of Object.entries(FILES)) writeFileSync(path.join(cwd, file), text);
  const planned = fakeShell({ cwd });
  expect(await runCli(['plan', 'job.yaml', '--out', 'plan.json'], planned)).toBe(0);
  const shell = fakeShell({ cwd, env: { PARLEY_SANDBOXES: '7' } });
  expect(await runCli(['plan', ...argv], shell)).toBe(0);
  return shell;
}

const GIVEN = ['--input', 'lib=right-pad', '--inputs', 'values.yaml'];

describe('parley plan --expanded', () => {
  it('shows the run, the deployment and each conversation with origins', async () => {
    const shell = await plan('job.yaml', '--expanded', ...GIVEN);
    expectGolden('plan-expanded.out', shell.stdout.text);
  });

  it('prints one record for the run and one for each conversation', async () => {
    const shell = await plan('job.yaml', '--expanded', '--json', ...GIVEN);
    const records = recordsOf(shell).filter(({ type }) => type === 'plan_expanded');
    expectGolden('plan-expanded.jsonl', `${records.map((record) => JSON.stringify(record)).join('\n')}\n`);
    expect(records.map((record) => record['key'])).toEqual([null, 'acme/shop', 'acme/docs']);
  });

  it('says of a saved plan that it no longer tells', async () => {
    const shell = await plan('plan.json', '--expanded');
    const values = shell.stdout.text.split('\n').filter((line) => line.startsWith('    model '));
    expect(values.length).toBe(2);
    for (const line of values) expect(line).toMatch(/coder +the saved plan$/);
  });
});
