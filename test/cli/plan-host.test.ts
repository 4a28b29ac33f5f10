/** What `plan` says of a host that a job names, and that a written plan has it again. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell } from './fake-shell.ts';

const JOB = `kind: job
version: 1
name: trained
defaults: {model: fast}
conversations: [{id: a, prompt: Train it.}]
placement:
  host: gpu-1
  labels: {zone: '<b>', gpu: a100}
`;

it('prints the host and its labels, writes them into the plan, and tells where they come from', async () => {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'job.yaml'), JOB);
  const planned = async (...flags: readonly string[]): Promise<string> => {
    const shell = fakeShell({ cwd });
    expect(await runCli(['plan', 'job.yaml', ...flags], shell)).toBe(0);
    return shell.stdout.text;
  };
  expect(await planned('--out', 'plan.json')).toContain(
    'host: the host "gpu-1" with the labels gpu: a100, zone: <b>\n',
  );
  const { placement } = JSON.parse(readFileSync(path.join(cwd, 'plan.json'), 'utf8')) as {
    placement: object;
  };
  expect(placement).toMatchObject({ host: 'gpu-1', labels: { gpu: 'a100', zone: '<b>' } });
  const expanded = await planned('--expanded');
  expect(expanded).toMatch(/placement\.host +gpu-1 .*job\.yaml:7/);
  expect(expanded).toMatch(/placement\.labels\.gpu +a100 .*job\.yaml:8/);
});
