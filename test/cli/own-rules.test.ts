/** What `parley plan` says of conversations with rules of their own: only what is other than in the run, once for all alike. */
import { describe, expect, it } from 'vitest';
import { ownRulesLines } from '../../cli/print/own-rules.ts';
import type { PlanItem } from '../../core/plan/plan.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import { goldenText } from '../dsl/golden-files.ts';
import { testWorld } from '../dsl/test-world.ts';
import { item, plan } from '../conformance/script-parts.ts';

describe('ownRulesLines()', () => {
  it('is empty where all go by the rules of the run', () => {
    expect(ownRulesLines(plan(2))).toEqual([]);
  });

  it('names each entry once for each set of rules, with what is other', () => {
    const compiled = compileJob({ path: 'job.yaml', text: goldenText('ok/own-rules.yaml') }, testWorld);
    expect(compiled.plan === null ? [] : ownRulesLines(compiled.plan)).toEqual([
      'plain, 1 conversation: no progress 10m00s',
      'same, 1 conversation: no progress 10m00s',
      'own, 1 conversation: ends FINISHED; deadline 30m00s; no progress 10m00s; no retry; collect usage, files, diff',
      'own, 1 conversation: ends FINISHED; deadline: no limit; no progress 10m00s; retry stuck 1 time; collect usage, files, diff',
    ]);
  });

  it('ends where nobody reads on', () => {
    const items = Array.from({ length: 30 }, (_, at): PlanItem =>
      item(at, { entry: `e${at}`, retry: [], collect: [] }),
    );
    const lines = ownRulesLines(plan(30, { items }));
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe('e0, 1 conversation: no retry; collects nothing');
    expect(lines.at(-1)).toBe('and 20 more with rules of their own');
  });
});
