/**
 * Planted secrets: whatever `validate` and `plan` print or save of a job, the value of a secret is in none of it, in no
 * spelling, also not cut by line breaks.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { secretForms } from '../e2e/secret-forms.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell } from './fake-shell.ts';

const CHARACTERS = [...'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789+/=%&_.~'];
const secret = fc
  .array(fc.constantFrom(...CHARACTERS), { minLength: 28, maxLength: 60 })
  .map((characters) => `q7${characters.join('')}X`);

/** References to three places; the values are in the environment, a file and nowhere near the job. */
const GOOD = `kind: job
version: 1
name: demo
inputs: { lib: { type: string, default: left-pad } }
secrets:
  git: { from: env, name: GIT_TOKEN }
  npm: { from: file, path: secrets/npm }
  team: { from: store, name: team/key }
defaults: { model: coder, secrets: { GIT: git, NPM: npm, TEAM: team } }
conversations:
  - id: a
    repo: { name: acme/shop, token: { secret: git } }
    prompt: Upgrade \${{ inputs.lib }}.
`;

/** Slips by which a value gets into the file itself, at a place that is for secrets. */
const SLIPS: readonly ((value: string) => string)[] = [
  (value) => GOOD.replace('{ from: env, name: GIT_TOKEN }', `"${value}"`),
  (value) => GOOD.replace('{ secret: git }', `"${value}"`),
  (value) => GOOD.replace('{ secret: git }', `{ secret: "${value}" }`),
  (value) => GOOD.replace('name: GIT_TOKEN', `name: "${value}"`),
  (value) => GOOD.replace('from: env, name: GIT_TOKEN', `from: env, nam: X, value: "${value}"`),
  (value) => GOOD.replace('GIT: git', `GIT: "${value}"`),
];

const COMMANDS: readonly (readonly string[])[] = [
  ...['pretty', 'json', 'jsonl', 'sarif', 'github'].map((format) => [
    'validate',
    'job.yaml',
    '--format',
    format,
  ]),
  ['plan', 'job.yaml', '--out', 'plan.json'],
  ['plan', 'job.yaml', '--expanded'],
  ['plan', 'job.yaml', '--expanded', '--json'],
];

/** Everything that the commands leave behind. */
async function outputs(job: string, value: string): Promise<string> {
  const cwd = tempDir();
  mkdirSync(path.join(cwd, 'secrets'));
  writeFileSync(path.join(cwd, 'secrets/npm'), value);
  writeFileSync(path.join(cwd, 'job.yaml'), job);
  const texts: string[] = [];
  for (const argv of COMMANDS) {
    const shell = fakeShell({ cwd, env: { GIT_TOKEN: value, PARLEY_GATEWAY_KEY: value } });
    await runCli(argv, shell);
    texts.push(shell.stdout.text, shell.stderr.text);
  }
  const plan = path.join(cwd, 'plan.json');
  return [...texts, existsSync(plan) ? readFileSync(plan, 'utf8') : ''].join('\n');
}

function formsFound(output: string, value: string): readonly string[] {
  const joined = output.replaceAll(/\s+/g, '');
  return secretForms(value).filter((form) => output.includes(form) || joined.includes(form));
}

const settings = { seed: 20261122, numRuns: 6 };

describe('a planted secret', () => {
  it('is in nothing that is printed or saved of a job that refers to it', async () => {
    await fc.assert(
      fc.asyncProperty(secret, async (value) => {
        const output = await outputs(GOOD, value);
        expect(output).toContain('acme/shop');
        expect(formsFound(output, value)).toEqual([]);
      }),
      settings,
    );
  });

  it.each(SLIPS.map((slip, index) => [index, slip] as const))(
    'is not repeated when it was written into the file (slip %d)',
    async (_index, slip) => {
      await fc.assert(
        fc.asyncProperty(secret, async (value) => {
          const output = await outputs(slip(value), value);
          expect(output).toContain('JOB');
          expect(formsFound(output, value)).toEqual([]);
        }),
        { ...settings, numRuns: 3 },
      );
    },
  );

  it('would be found if it were there, raw, encoded or cut by line breaks', () => {
    const value = 'q7+aB/cdEfGhJkLmNpQrStUv%wxyz=2X';
    const base64 = Buffer.from(`user:${value}`).toString('base64');
    for (const leaked of [
      value,
      encodeURIComponent(value),
      base64,
      `${value.slice(0, 9)}\n   ${value.slice(9)}`,
    ])
      expect(formsFound(`before ${leaked} after`, value)).not.toEqual([]);
  });
});
