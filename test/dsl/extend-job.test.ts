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

describe('append', () => {
  const append = `extends: shared/base.yaml
append:
  conversations: [{id: b, prompt: {file: b.md}, secrets: [tok]}]
  report: [{to: r.jsonl}]
  defaults: {secrets: [two], plugins: [acme/mine]}
secrets: {tok: {from: env, name: TOK}, two: {from: env, name: TWO}, one: {from: env, name: ONE}}
`;
  const base = BASE.replace('  model: fast', '  model: fast\n  secrets: [one]\n  plugins: [acme/base]');
  const files = {
    'job.yaml': append,
    'shared/base.yaml': base,
    'shared/prompts/a.md': 'Do a.',
    'b.md': 'Do b.',
  };

  it('is the plan of one file with the longer lists', () => {
    const whole = `${base
      .replace('[one]', '[one, two]')
      .replace('[acme/base]', '[acme/base, acme/mine]')
      .replace('{file: prompts/a.md}', 'Do a.')
      .replace(
        'report.md}',
        'report.md}\n  - {to: r.jsonl}',
      )}  - {id: b, prompt: {file: b.md}, secrets: [tok]}
${append.slice(append.indexOf('secrets: {tok'))}`;
    const { plan, diagnostics } = compile(files);
    expect(diagnostics).toEqual([]);
    expect(plan?.items.map(({ prompt, secrets }) => [prompt, Object.keys(secrets)])).toEqual([
      ['Do a.', ['one', 'two']],
      ['Do b.', ['one', 'tok', 'two']],
    ]);
    expect(plan?.hash).toBe(compile({ ...files, 'job.yaml': whole }).plan?.hash);
  });

  it('adds names of secrets to a map of them', () => {
    const mapped = base.replace('secrets: [one]', 'secrets: {ONE: one, OTHER: one}');
    const { plan } = compile({ ...files, 'shared/base.yaml': mapped });
    expect(plan?.items[0]?.secrets).toEqual({ ONE: 'one', OTHER: 'one', two: 'two' });
  });

  it('goes on along a chain, and the last file comes last', () => {
    const chain = {
      ...files,
      'job.yaml': 'extends: mid.yaml\nappend: {conversations: [{id: c, prompt: Do c.}]}\n',
      'mid.yaml': append,
    };
    expect(compile(chain).plan?.items.map(({ entry }) => entry)).toEqual(['a', 'b', 'c']);
  });

  it('says in which file a wrong entry stands, and that an id is taken', () => {
    const text = append.replace('id: b', 'id: a').replace('prompt: {file', 'promt: {file');
    expect(compile({ ...files, 'job.yaml': text }).diagnostics).toMatchObject([
      { code: 'JOB301', file: 'jobs/job.yaml', line: 3 },
      { code: 'JOB201', file: 'jobs/job.yaml', line: 3 },
    ]);
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
