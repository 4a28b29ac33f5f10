/**
 * Files as rows, on a real disk: links, pipes, names of any bytes, and the same plan as from the files themselves.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { jobWorld } from '../../host/job/job-file.ts';
import { compileJob } from '../../dsl/compile-job.ts';

const FOLDER = mkdtempSync(path.join(tmpdir(), 'parley-files-'));
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

function write(name: string, content: string | Uint8Array = `Do ${name}.\n`): void {
  mkdirSync(path.dirname(path.join(FOLDER, name)), { recursive: true });
  writeFileSync(path.join(FOLDER, name), content);
}

function compile(
  items: string,
  conversation = 'key: "${{ slug(item.path) }}"\n    prompt: "${{ item.text }}"',
) {
  const text = `kind: job\nversion: 1\nname: demo\nconversations:\n  - id: a\n    model: m\n    items: ${items}\n    ${conversation}\n`;
  const shell = { cwd: FOLDER, env: {} };
  const inputs = { typed: {}, values: {} };
  const world = jobWorld({ shell, file: 'jobs/job.yaml', models: null, checksSecrets: false, inputs });
  return compileJob({ path: 'jobs/job.yaml', text }, world);
}

function prompts(items: string): readonly string[] {
  const { plan, diagnostics } = compile(items);
  if (plan === null) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  return plan.items.map(({ key, prompt }) => `${key}: ${prompt.trim()}`);
}

write('jobs/p/two.md');
write('jobs/p/One.md');
write('jobs/p/deep/three.md', '\uFEFFKeep ${{ item.path }} and $${{ this }} as they are.\r\n');
write('common/four.md');
symlinkSync('../../common/four.md', path.join(FOLDER, 'jobs/p/linked.md'));
symlinkSync('../../common', path.join(FOLDER, 'jobs/p/folder'));
symlinkSync('..', path.join(FOLDER, 'jobs/p/deep/up'));

describe('files as rows', () => {
  it('follow links as other files do, go where the pattern says, and are literal', () => {
    expect(prompts('{glob: p/*.md}')).toEqual([
      'p-one.md: Do jobs/p/One.md.',
      'p-linked.md: Do common/four.md.',
      'p-two.md: Do jobs/p/two.md.',
    ]);
    expect(prompts('{glob: p/**/*.md}').map((one) => one.slice(0, one.indexOf(':')))).toEqual([
      'p-one.md',
      'p-deep-three.md',
      'p-linked.md',
      'p-two.md',
    ]);
    expect(prompts('{glob: p/deep/*.md}')).toEqual([
      'p-deep-three.md: Keep ${{ item.path }} and $${{ this }} as they are.',
    ]);
    expect(prompts('{glob: ../common/*.md}')[0]).toMatch(/: Do common\/four\.md\.$/);
    expect(prompts('{glob: p/folder/*.md}')).toEqual(['p-folder-four.md: Do common/four.md.']);
  });

  it('say the same as the prompt file itself', () => {
    const { plan } = compile('{glob: p/two.md}', 'key: k\n    prompt: "${{ item.text }}"');
    const same = compile('[x]', 'key: k\n    prompt: {file: p/two.md}');
    expect(plan?.items[0]?.specHash).toBe(same.plan?.items[0]?.specHash);
  });

  it('that cannot be read as text are told, and none is waited for', () => {
    write('jobs/odd/a.md');
    execFileSync('mkfifo', [path.join(FOLDER, 'jobs/odd/b.md')]);
    expect(compile('{glob: odd/*}').diagnostics).toMatchObject([
      { code: 'JOB305', line: 7, message: 'the file "odd/b.md" is a pipe, a socket or a device' },
    ]);
    expect(compile('{glob: odd/*, where: "item.stem != \'b\'"}').diagnostics).toHaveLength(1);
    const pipe = compile('[x]', 'key: k\n    prompt: {file: odd/b.md}');
    expect(pipe.diagnostics).toMatchObject([{ code: 'JOB305' }]);
    expect(compile('{csv: odd/b.md}').diagnostics).toMatchObject([{ code: 'JOB305' }]);
    symlinkSync('nowhere', path.join(FOLDER, 'jobs/odd/0.md'));
    expect(compile('{glob: odd/*}').diagnostics[0]?.message).toContain('its link leads nowhere');
  });

  it('whose name or text is no UTF-8 are told', () => {
    write('jobs/latin/a.md', new Uint8Array([0xe9, 0x0a]));
    expect(compile('{glob: latin/*}').diagnostics).toMatchObject([
      { code: 'JOB305', message: 'the file "latin/a.md" is not text' },
    ]);
    mkdirSync(path.join(FOLDER, 'jobs/bytes'));
    writeFileSync(Buffer.concat([Buffer.from(`${FOLDER}/jobs/bytes/`), Buffer.from([0xe9])]), 'x');
    expect(compile('{glob: bytes/*}').diagnostics[0]?.message).toContain('its name is not UTF-8');
  });
});
