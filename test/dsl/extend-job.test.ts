/**
 * `extends`: what is merged, what is removed, and where a finding in another file is shown.
 */
import { describe, expect, it } from 'vitest';

import { compileJob } from '../../dsl/compile-job.ts';
import { folderOf, joinPath } from '../../dsl/local-path.ts';
import type { JobWorld } from '../../dsl/world.ts';
import { testWorld } from './test-world.ts';

const BASE = `kind: job
version: 1
name: base
defaults:
  model: fast
  tags: {team: web, cost: low}
  limits: {usd: 2.50, turns: 100}
report:
  - {to: report.md}
conversations:
  - id: a
    prompt: {file: prompts/a.md}
`;

function compile(files: Readonly<Record<string, string>>, path = 'jobs/job.yaml') {
  const world: JobWorld = {
    ...testWorld,
    readFile: (name) => (files[name] === undefined ? { problem: 'missing' } : { text: files[name] }),
  };
  return compileJob({ path, text: files['job.yaml'] ?? '' }, world);
}

describe('extends', () => {
  it('merges maps key by key, replaces lists, and removes what is null', () => {
    const text =
      'extends: base.yaml\nname: child\ndefaults: {tags: {cost: null, owner: me}, limits: {turns: 5}}\nreport: null\n';
    const { plan, diagnostics } = compile({ 'job.yaml': text, 'base.yaml': BASE, 'prompts/a.md': 'Do it.' });
    expect(diagnostics).toEqual([]);
    expect(plan).toMatchObject({ name: 'child', report: [] });
    expect(plan?.items[0]).toMatchObject({
      tags: { owner: 'me', team: 'web' },
      limits: { nanoUsd: 2_500_000_000, turns: 5 },
    });
  });

  it('keeps the files of another folder relative to it, and says where a finding stands', () => {
    const files = { 'job.yaml': 'extends: shared/base.yaml\n', 'shared/base.yaml': BASE };
    expect(compile(files).diagnostics).toMatchObject([
      {
        code: 'JOB303',
        file: 'jobs/shared/base.yaml',
        line: 12,
        column: 20,
        message: 'the prompt file "shared/prompts/a.md" does not exist',
      },
    ]);
    const { plan } = compile({ ...files, 'shared/prompts/a.md': 'Do it.' });
    expect(plan?.items[0]?.prompt).toBe('Do it.');
  });

  it('is the same plan as one file with the same content', () => {
    const whole = compile({ 'job.yaml': BASE, 'prompts/a.md': 'Do it.' }).plan;
    const parts = compile({
      'job.yaml': 'extends: base.yaml\n',
      'base.yaml': BASE,
      'prompts/a.md': 'Do it.',
    });
    expect(parts.plan?.hash).toBe(whole?.hash);
    expect([...parts.texts.keys()]).toEqual(['jobs/job.yaml', 'jobs/base.yaml']);
  });

  it('follows a chain in which every file names its own way', () => {
    const files = {
      'job.yaml': 'extends: one/mid.yaml\nname: last\n',
      'one/mid.yaml': 'extends: ../two/base.yaml\nname: mid\nlabels: {from: mid}\n',
      'two/base.yaml': BASE,
      'two/prompts/a.md': 'Do it.',
    };
    expect(compile(files).plan).toMatchObject({ name: 'last', labels: { from: 'mid' } });
  });
});

describe('paths', () => {
  it.each([
    ['', 'a.yaml', 'a.yaml'],
    ['jobs', '../a.yaml', 'a.yaml'],
    ['jobs/deep', './x/../a.yaml', 'jobs/deep/a.yaml'],
    ['', '../a.yaml', '../a.yaml'],
    ['..', '../a.yaml', '../../a.yaml'],
    ['/srv/jobs', '../a.yaml', '/srv/a.yaml'],
  ])('%s and %s give %s', (folder, path, joined) => {
    expect(joinPath(folder, path)).toBe(joined);
  });

  it('have the folder before the last slash', () => {
    expect([folderOf('a/b.yaml'), folderOf('b.yaml')]).toEqual(['a', '']);
  });
});
