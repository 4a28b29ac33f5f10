/** Rows that an earlier stage writes: one place for all of them until they are known, and conversations from then on. */
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../core/plan/plan.ts';
import { knownItems } from '../../core/plan/known-items.ts';
import { amendPlan } from '../../dsl/plan/amend-plan.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import type { JobWorld } from '../../dsl/world.ts';
import { testWorld } from './test-world.ts';

const JOB = `kind: job
version: 1
name: staged
defaults: {model: fast}
conversations:
  - {id: plan, prompt: Plan it., collect: [{files: [moves.jsonl]}]}
  - id: move
    items: {from: plan, jsonl: moves.jsonl, where: 'item.size > 2'}
    key: \${{ id }}/\${{ item.name }}
    prompt: Move \${{ item.name }}, \${{ item.size }} of it.
  - {id: check, needs: [move], prompt: Look.}
`;

function compiled(rows?: string | null, job = JOB) {
  const read: NonNullable<JobWorld['readStageRows']> = (entry, file) => {
    expect([entry, file]).toEqual(['plan', 'moves.jsonl']);
    return rows === null ? { problem: 'missing' } : { chunks: [rows ?? ''] };
  };
  const world = rows === undefined ? testWorld : { ...testWorld, readStageRows: read };
  return compileJob({ path: 'job.yaml', text: job }, world);
}

const keys = (plan: Plan | null): readonly string[] => plan?.items.map(({ key }) => key) ?? [];

describe('rows that an earlier stage writes', () => {
  it('have one place until they are known, which never begins by itself', () => {
    const { plan, diagnostics } = compiled();
    expect(diagnostics).toEqual([]);
    expect(keys(plan)).toEqual(['plan', 'move', 'check']);
    expect(plan?.items[1]).toMatchObject({
      awaits: { entry: 'plan', file: 'moves.jsonl' },
      needs: [
        { entry: 'plan', outcome: 'succeeded' },
        { entry: 'move', outcome: 'ended' },
      ],
    });
    expect(keys(plan === null ? null : { ...plan, items: knownItems(plan) })).toEqual(['plan', 'check']);
  });

  it('are conversations once they are known, with values as typed as those of any data file', () => {
    const { plan, diagnostics } = compiled(
      '{"name":"a","size":3}\n{"name":"b","size":1}\n{"name":"c","size":9}\n',
    );
    expect(diagnostics).toEqual([]);
    expect(plan?.items.map(({ key, prompt }) => [key, prompt])).toEqual([
      ['plan', 'Plan it.'],
      ['move/a', 'Move a, 3 of it.'],
      ['move/c', 'Move c, 9 of it.'],
      ['check', 'Look.'],
    ]);
  });

  it('take the place of what stood for them, behind all others', () => {
    const [before, after] = [compiled().plan, compiled('{"name":"a","size":3}\n').plan];
    if (before === null || after === null) throw new Error('it does not compile');
    const { plan, retired } = amendPlan(before, after, {
      outcomes: new Map(),
      hasher: testWorld,
    });
    expect(keys(plan)).toEqual(['plan', 'move', 'check', 'move/a']);
    expect(retired).toEqual([1]);
  });

  it('are findings where there are none, where they cannot be read, and where they have other fields', () => {
    const said = (rows: string | null): string =>
      compiled(rows)
        .diagnostics.map(({ code, message }) => `${code} ${message}`)
        .join('\n');
    expect(said(null)).toContain('JOB303 plan has left no file "moves.jsonl" among its results');
    expect(said('no row\n')).toContain('JOB317');
    expect(said('{"title":"a"}\n')).toMatch(/item.size|unknown field/);
    expect(said('')).not.toBe('');
  });
});
