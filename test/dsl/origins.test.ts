/**
 * Where effective values come from: every field of a plan has an origin, and each kind of origin is reported.
 */
import { describe, expect, it } from 'vitest';

import { compileExplained } from '../../dsl/compile-job.ts';
import { ITEM_FIELDS, RUN_FIELDS, type PlanField } from '../../dsl/origins/fields.ts';
import type { EffectiveValue } from '../../dsl/origins/origin.ts';
import { savedOrigins } from '../../dsl/origins/plan-origins.ts';
import type { JobWorld } from '../../dsl/world.ts';
import { goldenText, validJobs } from './golden-files.ts';
import { testWorld } from './test-world.ts';

const FILES: Readonly<Record<string, string>> = {
  'base.yaml': 'defaults: {limits: {turns: 9}, tags: {team: core}}\nadmission: {concurrency: 4}\n',
  'rows.csv': 'repo,tier\nacme/a,gold\nacme/b,low\n',
};
const JOB = `kind: job
version: 1
name: demo
extends: base.yaml
inputs:
  lib: {type: string, default: left-pad}
  many: {type: int, default: 3}
  who: {type: string, default: nobody}
wait: {no_progress: 5m}
tolerate: {failed: "\${{ inputs.many }}"}
defaults:
  model: fast
conversations:
  - id: up
    items: {csv: rows.csv}
    matrix: {size: [s, l]}
    key: \${{ item.repo }}/\${{ matrix.size }}
    repo: {name: '\${{ item.repo }}'}
    tags: {who: '\${{ inputs.who }}'}
    extend:
      - {when: item.tier == 'gold', set: {limits: {usd: 5}}}
    prompt: Upgrade \${{ inputs.lib }} for size \${{ matrix.size }}.
`;

const world: JobWorld = {
  ...testWorld,
  models: null,
  inputs: { typed: { lib: 'right-pad' }, values: { many: 2 } },
  readFile: (file) => (FILES[file] === undefined ? { problem: 'missing' } : { text: FILES[file] }),
  readRows: (file) => (FILES[file] === undefined ? { problem: 'missing' } : { chunks: [FILES[file]] }),
};

function originsOf(text: string, from: JobWorld) {
  const { plan, origins, diagnostics } = compileExplained({ path: 'job.yaml', text }, from);
  if (plan === null || origins === null) throw new Error(JSON.stringify(diagnostics));
  return { plan, origins };
}

function find(values: readonly EffectiveValue[], key: string): EffectiveValue {
  const found = values.find((value) => value.key === key);
  if (found === undefined) throw new Error(`no value ${key}`);
  return found;
}

const { plan, origins } = originsOf(JOB, world);
const gold = origins.item(0);
const low = origins.item(2);

describe('the origin of a value', () => {
  it.each([
    ['written in the job', find(origins.run, 'wait.no_progress'), { kind: 'job', file: 'job.yaml', line: 9 }],
    [
      'written in a file it extends',
      find(origins.run, 'admission.concurrency'),
      { kind: 'extends', file: 'base.yaml', line: 2 },
    ],
    ['under defaults', find(gold, 'model'), { kind: 'job', file: 'job.yaml', line: 12, under: 'defaults' }],
    [
      'under defaults of a file it extends',
      find(gold, 'limits.turns'),
      { kind: 'extends', file: 'base.yaml', line: 1, under: 'defaults' },
    ],
    ['under extend', find(gold, 'limits.usd'), { kind: 'job', file: 'job.yaml', line: 21, under: 'extend' }],
  ])(
    '%s',
    (
      _name,
      value,
      { kind, file, line, under = null }: { kind: string; file: string; line: number; under?: string | null },
    ) => {
      expect(value.origin).toEqual({ kind, place: { file, line }, under, from: [] });
    },
  );

  it('is built in, or the business of the deployment, where nothing is written', () => {
    const unwritten = { place: null, under: null, from: [] };
    expect(find(origins.run, 'cleanup.sandbox')).toMatchObject({
      value: 'delete',
      origin: { kind: 'default', ...unwritten },
    });
    expect(find(origins.run, 'placement.strategy')).toMatchObject({
      value: null,
      origin: { kind: 'deployment', ...unwritten },
    });
    expect(find(gold, 'repo.branch').origin.kind).toBe('deployment');
    expect(find(low, 'limits.usd')).toMatchObject({ value: null, origin: { kind: 'default' } });
  });

  it('names the line of a row that stands in the job', () => {
    const text = JOB.replace(
      '{csv: rows.csv}',
      '\n      - {repo: acme/a, tier: gold}\n      - {repo: acme/b, tier: low}',
    );
    const listed = originsOf(text, world).origins;
    expect(find(listed.item(2), 'repo.name').origin.from).toEqual([
      { kind: 'row', file: 'job.yaml', line: 17, column: 'repo' },
    ]);
  });

  it('names the inputs with who gave them, the row and the axis', () => {
    expect(find(origins.run, 'inputs.lib')).toMatchObject({
      value: 'right-pad',
      origin: { from: [{ kind: 'input', name: 'lib', given: 'typed' }] },
    });
    expect(find(origins.run, 'tolerate.failed')).toMatchObject({
      value: 2,
      origin: { from: [{ kind: 'input', name: 'many', given: 'file' }] },
    });
    expect(find(gold, 'tags.who').origin.from).toEqual([{ kind: 'input', name: 'who', given: 'default' }]);
    expect(find(gold, 'repo.name').origin.from).toEqual([
      { kind: 'row', file: 'rows.csv', line: 2, column: 'repo' },
    ]);
    expect(find(low, 'key').origin.from).toEqual([
      { kind: 'row', file: 'rows.csv', line: 3, column: 'repo' },
      { kind: 'axis', name: 'size' },
    ]);
  });

  it('is the plan itself for one that was saved, with the same values', () => {
    const saved = savedOrigins(plan);
    for (const [mine, other] of [
      [saved.run, origins.run] as const,
      [saved.item(1), origins.item(1)] as const,
    ]) {
      expect(mine.map(({ field, value }) => [field, value])).toEqual(
        other.map(({ field, value }) => [field, value]),
      );
      for (const { origin } of mine) expect(origin.kind).toBe('plan');
    }
  });
});

/** Dotted paths to everything that is no map. */
function leavesOf(value: unknown, at = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [at];
  return Object.entries(value).flatMap(([name, entry]: [string, unknown]) =>
    leavesOf(entry, at === '' ? name : `${at}.${name}`),
  );
}

function isCovered(leaf: string, fields: readonly PlanField[]): boolean {
  // A parent that is null stands for all its fields.
  return fields.some(
    ({ field }) => leaf === field || leaf.startsWith(`${field}.`) || field.startsWith(`${leaf}.`),
  );
}

describe('the tables of fields', () => {
  const NO_VALUES = /^(?:format|name|hash|items|issues|inputs)(?:\.|$)/;
  it.each(validJobs())('have every field of the plan of %s', (file) => {
    const compiled = originsOf(goldenText(file), testWorld);
    const run = leavesOf(compiled.plan).filter((leaf) => !NO_VALUES.test(leaf));
    expect(run.filter((leaf) => !isCovered(leaf, RUN_FIELDS))).toEqual([]);
    for (const { index: _index, specHash: _hash, ...item } of compiled.plan.items)
      expect(leavesOf(item).filter((leaf) => !isCovered(leaf, ITEM_FIELDS))).toEqual([]);
    // Every written place is a line of a file that was read.
    for (const { origin } of [...compiled.origins.run, ...compiled.origins.item(0)])
      if (origin.place !== null) expect(origin.place.line).toBeGreaterThan(0);
  });
});
