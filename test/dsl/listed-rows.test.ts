/**
 * Rows that stand in a job: the same plan as from a data file, however they are spelled, with inputs in them or without.
 */
import { describe, expect, it } from 'vitest';

import { compileJob } from '../../dsl/compile-job.ts';
import { formatDocument } from '../../dsl/read/format-document.ts';
import { JOB_LANGUAGE } from '../../dsl/job-language.ts';
import { testWorld } from './test-world.ts';

const ROWS = [
  { repo: 'acme/shop', stars: 12, frozen: false },
  { repo: 'acme/web', stars: 0.5, frozen: true },
];
const JSONL = ROWS.map((row) => JSON.stringify(row)).join('\n');

function job(items: string): string {
  return `kind: job
version: 1
name: demo
inputs: {lib: {type: string}}
conversations:
  - id: a
    items: ${items}
    key: \${{ item.repo }}
    model: fast
    prompt: Fix \${{ item.repo }} with \${{ item.stars + 1.0 }} and \${{ inputs.lib }}.
`;
}

const world = {
  ...testWorld,
  inputs: { typed: { lib: 'a${{ b' }, values: {} },
  readRows: () => ({ chunks: [JSONL] }),
};

function planOf(text: string) {
  const { plan, diagnostics } = compileJob({ path: 'job.yaml', text }, world);
  if (plan === null) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  return plan;
}

describe('rows in the job', () => {
  it.each([
    ['alone', JSON.stringify(ROWS)],
    ['under their key', JSON.stringify({ list: ROWS })],
    ['in another order of fields', JSON.stringify([ROWS[0], { frozen: true, stars: 0.5, repo: 'acme/web' }])],
    [
      'with conditions',
      JSON.stringify({ list: [...ROWS, { ...ROWS[0], stars: -1 }], where: 'item.stars > 0.0' }),
    ],
  ])('%s are those of a data file', (_how, items) => {
    expect(planOf(job(items)).hash).toBe(planOf(job('{jsonl: rows.jsonl}')).hash);
  });

  it('take an input as it is, and what it holds is not read again', () => {
    const { items } = planOf(
      job('[{repo: x, stars: 1, lib: "${{ inputs.lib }}"}]').replace('and ${{ inputs', 'and ${{ item'),
    );
    expect(items[0]?.prompt).toBe('Fix x with 2 and a${{ b.');
  });

  it('are no error while an input in them has no value', () => {
    const { inputs: _given, ...asked } = world;
    const text = job('[{repo: x, stars: 1}, {repo: "${{ inputs.lib }}", stars: 2}]');
    expect(compileJob({ path: 'job.yaml', text }, asked)).toMatchObject({
      diagnostics: [],
      openInputs: ['lib'],
    });
  });

  it('are formatted without another meaning, and the same the second time', () => {
    const text = job('\n      # the first\n      - {repo: a/b,   stars: 1}\n      - {repo: c/d, stars: 2}');
    const once = formatDocument({ path: 'job.yaml', text }, JOB_LANGUAGE);
    if (!('text' in once)) throw new Error('not formatted');
    expect(once.text).toContain('# the first');
    expect(formatDocument({ path: 'job.yaml', text: once.text }, JOB_LANGUAGE)).toEqual(once);
    expect(planOf(once.text).hash).toBe(planOf(text).hash);
  });
});
