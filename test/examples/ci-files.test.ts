/** The workflow files of examples/ci/, read by programs of other authors: actionlint, and GitLab's own schema. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { installedActionlint, installedGitlabCiLocal } from '../../scripts/ci-tools.js';
import { ROOT } from '../cli/parley-program.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const GITHUB = path.join(ROOT, 'examples', 'ci', 'github-actions.yml');
const GITLAB = path.join(ROOT, 'examples', 'ci', 'gitlab-ci.yml');

describeWith('ci-tools', 'what others say of the workflow files', () => {
  const lint = (file: string): { readonly code: number | null; readonly said: string } => {
    const { status, stdout, stderr } = spawnSync(
      installedActionlint(process.env) ?? '',
      ['-no-color', file],
      { encoding: 'utf8' },
    );
    return { code: status, said: stdout + stderr };
  };

  it('actionlint finds nothing in the one, and does find a mistake', () => {
    expect(lint(GITHUB)).toEqual({ code: 0, said: '' });
    const wrong = path.join(tempDir(), 'wrong.yml');
    writeFileSync(
      wrong,
      readFileSync(GITHUB, 'utf8').replace('steps.run.outputs.code', 'steps.runs.outputs.code'),
    );
    expect(lint(wrong).said).toContain('"runs"');
  });

  /** It wants a Node that joins sets, which the oldest that we support does not. */
  const joins = `data:text/javascript,${encodeURIComponent('Set.prototype.union ??= function (other) { return new Set([...this, ...other]); };')}`;

  function read(text: string): {
    readonly code: number | null;
    readonly said: string;
    readonly listed: string;
  } {
    const cwd = tempDir();
    const git = (...args: readonly string[]): void =>
      void execFileSync('git', args, { cwd, stdio: 'ignore' });
    git('init', '-q', '-b', 'main');
    git('remote', 'add', 'origin', 'git@gitlab.example:acme/shop.git');
    git(
      '-c',
      'user.name=Ann',
      '-c',
      'user.email=ann@example.org',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'start',
    );
    writeFileSync(path.join(cwd, '.gitlab-ci.yml'), text);
    const program = installedGitlabCiLocal(process.env) ?? '';
    const args = [
      '--import',
      joins,
      program,
      '--list-json',
      '--variable',
      'CI_PIPELINE_SOURCE=merge_request_event',
    ];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
    return { code: status, said: stdout + stderr, listed: stdout };
  }

  it("GitLab's schema accepts the other, and refuses a mistake", () => {
    const { code, said, listed } = read(readFileSync(GITLAB, 'utf8'));
    expect(code, said).toBe(0);
    expect(said).toContain('json schema validated');
    const jobs = JSON.parse(listed.slice(listed.indexOf('[\n'))) as {
      name: string;
      when: string;
      needs?: object[];
    }[];
    expect(jobs).toMatchObject([
      { name: 'parley', when: 'on_success' },
      { name: 'parley note', when: 'always', needs: [{ job: 'parley', artifacts: true }] },
    ]);
    const wrong = read(
      readFileSync(GITLAB, 'utf8').replace('when: always\n    name', 'when: sometimes\n    name'),
    );
    expect(wrong.said).toContain('must be one of');
    expect(wrong.code).not.toBe(0);
  });
});
