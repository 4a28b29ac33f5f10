/** The plan of a run with what a changed job brings: items keep their places, new ones come behind them. */
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../core/plan/plan.ts';
import type { Outcome } from '../../core/status.ts';
import { amendPlan } from '../../dsl/plan/amend-plan.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import { hashPlan } from '../../dsl/plan/plan-text.ts';
import { SHA256 } from '../../host/job/job-file.ts';
import { testWorld } from './test-world.ts';

function job(conversations: readonly string[], more = ''): Plan {
  const head = `kind: job\nversion: 1\nname: demo\ndefaults: {model: fast}\n${more}conversations:\n`;
  const { plan } = compileJob({ path: 'job.yaml', text: `${head}${conversations.join('')}` }, testWorld);
  if (plan === null) throw new Error('the job has errors');
  return plan;
}
const one = (id: string, prompt = 'Do it.', more = ''): string =>
  `  - {id: ${id}, prompt: ${prompt}${more}}\n`;
const amended = (planned: Plan, changed: Plan, ended: Readonly<Record<string, Outcome>> = {}) =>
  amendPlan(planned, changed, { outcomes: new Map(Object.entries(ended)), hasher: SHA256 });
const keys = ({ items }: Plan) => items.map(({ key, index, prompt }) => [key, index, prompt]);

describe('amendPlan()', () => {
  const planned = job([one('a'), one('b'), one('c')]);

  it('is the plan itself for a job that brings no other item', () => {
    expect(amended(planned, job([one('c'), one('b'), one('a')])).plan).toBe(planned);
    expect(amended(planned, job([one('a'), one('b'), one('c')], 'tolerate: {failed: 2}\n')).plan).toBe(
      planned,
    );
  });

  it('has the pace of the job in its hash, and the other rules as planned', () => {
    const other = job([one('a'), one('b'), one('c')], 'admission: {concurrency: 3}\ntolerate: {failed: 2}\n');
    const { plan } = amended(planned, other);
    const { hash, ...rest } = plan;
    const admission = { ...planned.admission, concurrency: 3 };
    expect({ ...rest, hash: planned.hash }).toEqual({ ...planned, admission });
    expect(hash).toBe(hashPlan(rest, SHA256));
    expect(amended(plan, other).plan).toBe(plan);
  });

  it('keeps items at their places, puts new ones behind, and names what is gone', () => {
    const { plan, retired, kept } = amended(planned, job([one('d'), one('c', 'Do more.'), one('a')]));
    expect(keys(plan)).toEqual([
      ['a', 0, 'Do it.'],
      ['b', 1, 'Do it.'],
      ['c', 2, 'Do more.'],
      ['d', 3, 'Do it.'],
    ]);
    expect(retired).toEqual([1]);
    expect(kept).toEqual([]);
    const { hash, ...rest } = plan;
    expect(hash).toBe(hashPlan(rest, SHA256));
    expect(hash).not.toBe(planned.hash);
  });

  it('leaves changed items that have succeeded as they were planned, and names them', () => {
    const changed = job([one('a', 'Do more.'), one('b', 'Do more.'), one('c')]);
    const { plan, kept } = amended(planned, changed, { a: 'succeeded', b: 'failed' });
    expect(keys(plan).map(([, , prompt]) => prompt)).toEqual(['Do it.', 'Do more.', 'Do it.']);
    expect(kept).toEqual(['a']);
  });

  it('gives the same plan for the same job, and takes it up only once', () => {
    const changed = job([one('a'), one('b', 'Do more.'), one('d')]);
    const first = amended(planned, changed);
    expect(amended(planned, changed).plan.hash).toBe(first.plan.hash);
    expect(amended(first.plan, changed).plan).toBe(first.plan);
  });

  it('keeps the rules of the run as planned, and brings secrets that new items need', () => {
    const changed = job(
      [one('a'), one('b'), one('c'), one('d', 'Do it.', ', secrets: [npm]')],
      'secrets: {npm: {from: env, name: NPM}}\nbudget: {usd: 5}\ncollect: [usage]\n',
    );
    const { plan } = amended(planned, changed);
    expect(plan.secrets).toEqual({ npm: { from: 'env', name: 'NPM' } });
    const { items: _items, secrets: _secrets, hash: _hash, ...rules } = plan;
    const { items: _old, secrets: _none, hash: _before, ...before } = planned;
    expect(rules).toEqual(before);
  });
});
