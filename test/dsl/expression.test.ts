/**
 * Expressions: what they evaluate to, what they refuse, and what they say about a failure.
 */
import { describe, expect, it } from 'vitest';

import { createCelEngine } from '../../dsl/expression/cel-engine.ts';
import type { ConversationSeen, Observation } from '../../dsl/expression/observation.ts';
import { itemValues, observationValues } from '../../dsl/expression/values.ts';
import { valueText } from '../../dsl/expression/value-text.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import { jobText, testWorld } from './test-world.ts';

const engine = createCelEngine();

function conversation(fields: Partial<ConversationSeen>): ConversationSeen {
  return {
    key: 'a',
    id: 'c1',
    phase: 'working',
    status: 'RUNNING',
    pause_reason: '',
    execution_status: 'RUNNING',
    outcome: '',
    terminal: false,
    collected: false,
    attempts: 1n,
    cost_usd: 0.5,
    repo: 'acme/shop',
    model: 'fast',
    tags: { team: 'core' },
    sandbox: 's1',
    ...fields,
  };
}

const seen: Observation = {
  elapsed_ms: 3_600_500,
  convs: [
    conversation({}),
    conversation({
      key: 'b',
      phase: 'ended',
      status: 'PAUSED',
      pause_reason: 'idle',
      terminal: true,
      tags: {},
    }),
  ],
  sandboxes: [
    {
      id: 's1',
      status: 'RUNNING',
      pause_reason: '',
      transition: '',
      generation: 2n,
      conversations: 2n,
      host: '',
      session_ms: 60_000,
      released_ms: 0,
    },
  ],
  capacity: { in_use: 1n, max: 20n, peak: 3n },
  pool: { ready: 2n, in_use: 1n, size: 4n },
  budget: { spent_usd: 1.25, reserved_usd: 0.25, limit_usd: 10 },
  run: { phase: 'running', mode: 'run', reason: '', waiting: 0n, in_flight: 1n, ended: 1n },
  summary: {
    makespan_ms: 50_400_000,
    cost_usd: 1,
    succeeded: 1n,
    failed: 0n,
    retried: 0n,
    paused_idle: 1n,
    paused_session_limit: 0n,
    paused_user: 0n,
    paused_capacity: 0n,
    resumed: 0n,
    sandboxes: 1n,
    arrived: 0n,
    refused: 0n,
    unmatched_usd: 0,
  },
};
const values = observationValues(seen);

function evaluated(source: string): unknown {
  const compiled = engine.compileCondition(source, 'observation');
  if (!compiled.ok) throw new Error(compiled.problem.message);
  return compiled.expression.evaluate(values);
}

describe('evaluation', () => {
  it.each([
    ['true && !false', true],
    ['false || true', true],
    ["'a' in ['a', 'b'] && !('c' in ['a', 'b'])", true],
    ['1 + 2 * 3 == 7 && 7 / 2 == 3 && 7 % 2 == 1 && -1 < 0', true],
    ['1.5 + 0.25 == 1.75 && 3.0 / 2.0 == 1.5', true],
    ["'ab' + 'c' == 'abc' && 'abc'.size() == 3", true],
    ["'abc'.startsWith('ab') && 'abc'.endsWith('c') && 'abc'.contains('b')", true],
    ['1 < 2 ? true : false', true],
    ['[1, 2, 3].map(x, x * 2) == [2, 4, 6]', true],
    ['[1, 2, 3].filter(x, x > 1).size() == 2', true],
    ['[1, 2].all(x, x > 0) && [1, 2].exists(x, x == 2) && [1, 2].exists_one(x, x == 2)', true],
    ['[].all(x, false) && ![].exists(x, true)', true],
    // A side that fails is passed over when the other decides.
    ['false && 1 / 0 == 1', false],
    ['true || 1 / 0 == 1', true],
    ["duration('90m') == duration('1h30m') && duration('1h') < duration('61m')", true],
    ["elapsed > duration('1h') && elapsed < duration('1h0m1s')", true],
    ["elapsed - duration('1h') == duration('500ms')", true],
    ["summary.makespan == duration('14h')", true],
    ["sandboxes[0].session == duration('1m') && sandboxes[0].released == duration('0s')", true],
    ['capacity.in_use <= 20 && capacity.peak > capacity.in_use', true],
    ['budget.spent_usd + budget.reserved_usd <= 1.5', true],
    ['budget.spent_usd < 2', true],
    ['convs.all(c, c.terminal)', false],
    ["convs.exists(c, c.status == 'PAUSED' && c.pause_reason == 'idle')", true],
    ["by_key('b').status == 'PAUSED'", true],
    ["convs.filter(c, c.tags.size() > 0).all(c, c.tags['team'] == 'core')", true],
    ["convs.exists(c, has(c.tags.team)) && !convs.all(c, 'team' in c.tags)", true],
    ['convs.all(c, sandboxes.exists(s, s.id == c.sandbox))', true],
  ])('%s is %s', (source, value) => {
    expect(evaluated(source)).toBe(value);
  });

  it.each([
    ["by_key('nobody').terminal", 'no conversation has the key "nobody"'],
    ['1 / (capacity.in_use - 1) == 1', 'division by zero'],
    ['convs[5].terminal', 'out of bounds'],
    ["by_key('b').tags.team == 'core'", 'No such key: team'],
  ])('%s fails: %s', (source, reason) => {
    expect(() => evaluated(source)).toThrow(
      expect.objectContaining({
        code: 'expression_failed',
        message: expect.stringContaining(reason) as string,
      }),
    );
  });

  it('knows an item by every name that a rule can use', () => {
    const { plan } = compileJob({ path: 'job.yaml', text: jobText() }, testWorld);
    const [item] = plan?.items ?? [];
    if (item === undefined) throw new Error('no item');
    const given = {
      ...item,
      repository: { name: 'acme/shop', branch: 'main', host: null, tokenSecret: null },
    };
    const source = `item.key == 'a' && item.entry == 'a' && item.repo == 'acme/shop' && item.owner == 'acme' &&
      item.branch == 'main' && item.model == 'fast' && item.tags.size() == 0 && item.priority == 0 && !('to' in item.matrix)`;
    const compiled = engine.compileCondition(source, 'item');
    expect(compiled.ok && compiled.expression.evaluate(itemValues(given))).toBe(true);
  });
});

describe('explanation', () => {
  it('shows what was joined, both sides of comparisons, and who broke a condition over all', () => {
    const compiled = engine.compileCondition(
      "capacity.in_use >= 2 && (elapsed < duration('2h') || convs.all(c, c.terminal))",
      'observation',
    );
    if (!compiled.ok) throw new Error(compiled.problem.message);
    const parts = compiled.expression.explain(values).map((part) => [part.source, valueText(part.value)]);
    expect(parts).toEqual([
      ['capacity.in_use >= 2', 'false'],
      ['capacity.in_use', '1'],
      ["elapsed < duration('2h') || convs.all(c, c.terminal)", 'true'],
      ["elapsed < duration('2h')", 'true'],
      ['elapsed', '1h 500ms'],
      ['convs.all(c, c.terminal)', 'false'],
      ['convs.filter(c, !(c.terminal))', '["a"]'],
    ]);
  });

  it('leaves out what cannot be evaluated', () => {
    const compiled = engine.compileCondition("run.ended == 1 || by_key('x').terminal", 'observation');
    if (!compiled.ok) throw new Error(compiled.problem.message);
    const sources = compiled.expression.explain(values).map((part) => part.source);
    expect(sources).toEqual(['run.ended == 1', 'run.ended']);
  });
});

describe('use', () => {
  it.each([
    ['1 < 2', false],
    ['[1].all(convs, convs > 0) && true', true],
    ['elapsed == elapsed', true],
  ])('%s varies: %s', (source, varies) => {
    const compiled = engine.compileCondition(source, 'observation');
    expect(compiled.ok && compiled.use.varies).toBe(varies);
  });

  it('names the keys that are looked up, at their offsets behind leading blanks', () => {
    const compiled = engine.compileCondition("  by_key('b').terminal", 'observation');
    expect(compiled.ok && compiled.use.keys).toEqual([{ key: 'b', start: 9, end: 12 }]);
    expect(compiled.ok && compiled.expression.source).toBe("by_key('b').terminal");
  });
});
