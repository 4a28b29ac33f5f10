/** Values of `parley.yaml`: clear secrets and unset variables are errors; a length of time is read as in a job. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadDeployment } from '../../host/config/load-deployment.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'parley-clear-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function problemsOf(text: string) {
  writeFileSync(path.join(folder, 'parley.yaml'), text);
  const { problems, config } = await loadDeployment({ path: null, cwd: folder, env: { KEY: 'k' } });
  return { problems: problems.filter(({ severity }) => severity === 'error'), config };
}

const entry = (key: string, more = ''): string => `proxy_config:
  model_list:
    - model_name: coder
      proxyvendor_params:
        model: openai/gpt-5-mini
        api_base: https://gateway.example.com/v1
        api_key: ${key}
${more}`;

describe('values of parley.yaml', () => {
  it.each([
    [entry('sk-abcdefghijklmnop1234567890'), 7, 'looks like a secret', 'os.environ/NAME'],
    [entry('9f86d081884c7d659a2feaa0c55ad015a3bf'), 7, 'looks like a secret', 'os.environ/NAME'],
    [
      entry('os.environ/KEY', '        extra_headers: {authorization: Bearer ghp_abcdefghijklmnop12345}\n'),
      8,
      'looks like a secret',
      'os.environ/NAME',
    ],
    [entry('$KEY'), 7, 'names the variable KEY', 'write os.environ/KEY'],
    [entry('"${KEY}"'), 7, 'names the variable KEY', 'write os.environ/KEY'],
    [entry('"x-${KEY}"'), 7, 'names the variable KEY', 'let one variable hold all of it'],
    ['store: {path: $HOME/.parley}\n', 1, 'names the variable HOME', 'set PARLEY_DATA'],
    [
      'code_hosts:\n  github:\n    url: https://github.com/{owner}/{repo}.git\n    token: $KEY\n',
      4,
      'names the variable KEY',
      'write os.environ/KEY',
    ],
  ])('refuses %j once, at its line', async (text, line, message, remedy) => {
    const { problems, config } = await problemsOf(text);
    expect(config).toBeNull();
    expect(problems).toEqual([
      expect.objectContaining({
        line,
        message: expect.stringContaining(message) as string,
        remedy: expect.stringContaining(remedy) as string,
      }),
    ]);
    expect(JSON.stringify(problems)).not.toMatch(/abcdefghij|9f86d0/);
  });

  it.each([entry('os.environ/KEY'), entry('local-key'), 'results: {path: cost-$5}\n'])(
    'takes %j',
    async (text) => {
      expect((await problemsOf(text)).problems).toEqual([]);
    },
  );

  it('reads a length of time as a job writes it, in the file and in a variable', async () => {
    const env = { PARLEY_DELETION_TIME: '2d' };
    writeFileSync(
      path.join(folder, 'parley.yaml'),
      'limits: {idle_time: 1h10m}\nwarm_pool: {max_age: 90m}\nstore: {statement_timeout: 45s}\n',
    );
    const { values, problems } = await loadDeployment({ path: null, cwd: folder, env });
    expect(problems).toEqual([]);
    const read = Object.fromEntries(values.map((one) => [one.path, one.value]));
    expect(read).toMatchObject({
      'limits.idle_time': 4_200,
      'limits.deletion_time': 172_800,
      'warm_pool.max_age': 5_400,
      'store.statement_timeout': 45,
    });
  });

  it.each([
    ['limits: {idle_time: 10min}\n', '10min'],
    ['warm_pool: {max_age: 5s}\n', 'at least 60'],
    ['capacity: {sandboxes: 10m}\n', '10m'],
  ])('refuses %j', async (text, message) => {
    const { problems } = await problemsOf(text);
    expect(problems.map((one) => one.message).join()).toContain(message);
  });
});
