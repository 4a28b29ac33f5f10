/** Help of every command, and the commands about files: init, plan, schema, explain, config, doctor. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { deploymentJsonSchema } from '../../host/config/schema/deployment-json-schema.ts';
import { failed } from '../../host/finding.ts';
import { COMMAND_NAMES, runCli } from '../../cli/program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost } from './fake-host.ts';
import { fakeShell, recordsOf } from './fake-shell.ts';
import { expectGolden } from './golden-file.ts';
import { JOB } from './rows.ts';

const inFolder = (cwd: string, env: Record<string, string> = {}) => fakeShell({ cwd, env });

describe('help', () => {
  it.each(['', ...COMMAND_NAMES])('of "parley %s" is on standard output', async (name) => {
    const shell = inFolder(tempDir());
    expect(await runCli(name === '' ? ['--help'] : [name, '--help'], shell)).toBe(0);
    expect(shell.stderr.text).toBe('');
    if (name !== '') expect(shell.stdout.text).toContain('Examples:\n');
    expectGolden(`help/${name || 'parley'}.out`, shell.stdout.text);
  });

  it('is also found as "parley help run"', async () => {
    const shell = inFolder(tempDir());
    expect(await runCli(['help', 'run'], shell)).toBe(0);
    expect(shell.stdout.text).toContain('Usage: parley run');
  });

  it('comes with code 2 on standard error when nothing, or something unknown, is typed', async () => {
    for (const argv of [
      [],
      ['valdate'],
      ['run'],
      ['run', 'a', '--bogus'],
      ['validate', 'a', '--format', 'xml'],
    ]) {
      const shell = inFolder(tempDir());
      expect(await runCli(argv, shell)).toBe(2);
      expect(shell.stdout.text).toBe('');
      expect(shell.stderr.text).not.toBe('');
    }
  });
});

describe('parley init', () => {
  it('writes a valid job and deployment once, and schemas for editors', async () => {
    const cwd = tempDir();
    const gateway = {
      PARLEY_MODEL: 'openai/x',
      PARLEY_GATEWAY_URL: 'http://127.0.0.1:9/v1',
      PARLEY_GATEWAY_KEY: 'k',
    };
    const shell = inFolder(cwd, gateway);
    expect(await runCli(['init'], shell)).toBe(0);
    expect(await runCli(['validate', 'job.yaml'], shell)).toBe(0);
    expect(await runCli(['config', 'check'], shell)).toBe(0);
    const job = readFileSync(path.join(cwd, 'job.yaml'), 'utf8');
    const schema = /^# yaml-language-server: \$schema=(.*)$/m.exec(job)?.[1] ?? '';
    expect(job).toContain(`# $schema: ${schema}\n`);
    expect(existsSync(path.join(cwd, schema))).toBe(true);
    writeFileSync(path.join(cwd, 'job.yaml'), 'mine\n');
    expect(await runCli(['init'], shell)).toBe(0);
    expect(readFileSync(path.join(cwd, 'job.yaml'), 'utf8')).toBe('mine\n');
    expect(shell.stdout.text).toContain('job.yaml: kept, it exists');
  });

  it('says when it cannot write', async () => {
    const cwd = tempDir();
    writeFileSync(path.join(cwd, 'file'), '');
    expect(await runCli(['init', 'file'], inFolder(cwd))).toBe(2);
  });
});

describe('parley plan', () => {
  it('shows, expands and saves', async () => {
    const cwd = tempDir();
    writeFileSync(path.join(cwd, 'job.yaml'), JOB);
    const shell = inFolder(cwd);
    expect(await runCli(['plan', 'job.yaml'], shell)).toBe(0);
    expect(await runCli(['plan', 'job.yaml', '--expanded'], shell)).toBe(0);
    expectGolden('plan.out', shell.stdout.text);
    const json = inFolder(cwd);
    expect(await runCli(['plan', 'job.yaml', '--json'], json)).toBe(0);
    expect(recordsOf(json)[1]).toMatchObject({ type: 'plan', plan: { format: 1, name: 'demo' } });
    expect(await runCli(['plan', 'job.yaml', '--out', 'no/folder/plan.json'], json)).toBe(2);
  });

  it('ends with 1 for a job with errors, and 2 for a file that is none', async () => {
    const cwd = tempDir();
    writeFileSync(path.join(cwd, 'job.yaml'), 'kind: job\n');
    expect(await runCli(['plan', 'job.yaml'], inFolder(cwd))).toBe(1);
    expect(await runCli(['plan', 'other.yaml'], inFolder(cwd))).toBe(2);
    writeFileSync(path.join(cwd, 'x.json'), '{');
    expect(await runCli(['plan', 'x.json'], inFolder(cwd))).toBe(2);
  });

  it('warns about a model that parley.yaml does not list', async () => {
    const cwd = tempDir();
    writeFileSync(path.join(cwd, 'job.yaml'), JOB);
    writeFileSync(path.join(cwd, 'parley.yaml'), 'proxy_config: { model_list: [{ model_name: codr }] }\n');
    const shell = inFolder(cwd);
    expect(await runCli(['validate', 'job.yaml'], shell)).toBe(0);
    expect(shell.stdout.text).toContain('JOB503');
  });
});

describe('parley schema', () => {
  it('is the schema in the repository', () => {
    const file = path.join(import.meta.dirname, '../../schema/deployment.v1.json');
    const text = `${JSON.stringify(deploymentJsonSchema(), null, 2)}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('explains keys, and names the nearest of an unknown one', async () => {
    const shell = inFolder(tempDir());
    for (const argv of [
      ['deployment', 'limits'],
      ['job', 'conversations.verify'],
      ['job', 'retry.backoff'],
    ]) {
      expect(await runCli(['schema', ...argv], shell)).toBe(0);
    }
    expectGolden('schema.out', shell.stdout.text);
    expect(await runCli(['schema', 'deployment', 'limits.idel_time'], shell)).toBe(2);
    expect(shell.stderr.text).toContain('did you mean "idle_time"?');
    expect(await runCli(['schema'], inFolder(tempDir()))).toBe(0);
  });
});

describe('parley explain', () => {
  it('knows rules and error codes', async () => {
    const shell = inFolder(tempDir());
    expect(await runCli(['explain', 'job201'], shell)).toBe(0);
    expect(await runCli(['explain', 'data_directory_locked'], shell)).toBe(0);
    expectGolden('explain.out', shell.stdout.text);
    expect(await runCli(['explain', 'config_invlid'], shell)).toBe(2);
    expect(shell.stderr.text).toContain('did you mean "config_invalid"?');
  });
});

describe('parley config and doctor', () => {
  it('find what is wrong, with a remedy', async () => {
    const cwd = tempDir();
    writeFileSync(path.join(cwd, 'parley.yaml'), 'limits: { idel_time: 5 }\n');
    const shell = inFolder(cwd);
    expect(await runCli(['config', 'check'], shell)).toBe(1);
    expect(shell.stdout.text).toContain('parley.yaml:1:11: error: unknown key "idel_time"');
    const doctor = inFolder(cwd);
    expect(await runCli(['doctor', '--json'], doctor)).toBe(1);
    expect(recordsOf(doctor)).toContainEqual(
      expect.objectContaining({ check: 'configuration', status: 'failed' }),
    );
  });

  it('explain defaults as records', async () => {
    const shell = inFolder(tempDir());
    expect(await runCli(['config', 'explain', '--json'], shell)).toBe(0);
    expect(recordsOf(shell)).toContainEqual({
      type: 'setting',
      path: 'limits.idle_time',
      value: 1_200,
      origin: 'default',
    });
  });

  it('let a machine with everything pass', async () => {
    const cwd = tempDir();
    mkdirSync(path.join(cwd, 'dist'));
    for (const file of ['agent-server.cjs', 'sandbox-init.cjs']) writeFileSync(path.join(cwd, file), '');
    const shell = inFolder(cwd);
    expect(await runCli(['doctor'], shell)).toBe(0);
    expect(shell.stdout.text).toMatch(/^ok {7}git/m);
    expect(shell.stdout.text).toMatch(/^warning {2}models/m);
  });

  it('look at a job, too, when one is named', async () => {
    const cwd = tempDir();
    writeFileSync(path.join(cwd, 'job.yaml'), JOB);
    const host = fakeHost({ findings: [failed('gateway', 'it is down', 'start it')] });
    const shell = fakeShell({ cwd, host });
    expect(await runCli(['doctor', 'job.yaml'], shell)).toBe(1);
    expect(shell.stdout.text).toContain('failed   gateway         it is down\n         = start it\n');
    writeFileSync(path.join(cwd, 'job.yaml'), 'kind: job\n');
    const broken = fakeShell({ cwd, host });
    expect(await runCli(['doctor', 'job.yaml'], broken)).toBe(1);
    expect(broken.stdout.text).toContain('failed   job             "job.yaml" has errors');
  });
});
