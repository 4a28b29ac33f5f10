/**
 * What golden files cannot show: bounds, the world, laws of hashes, speed.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMap, parseDocument, visit } from 'yaml';

import type { Plan } from '../../core/plan/plan.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import { DIAGNOSTICS_MAX } from '../../dsl/check/report.ts';
import type { JobWorld } from '../../dsl/world.ts';
import { goldenText } from './golden-files.ts';
import { jobText, sha256, testWorld } from './test-world.ts';

function planOf(text: string, world: JobWorld = testWorld, path = 'job.yaml'): Plan {
  const { plan, diagnostics } = compileJob({ path, text }, world);
  if (plan === null) throw new Error(`Cannot compile the job: ${JSON.stringify(diagnostics)}`);
  return plan;
}

describe('reconcile.expect', () => {
  const expected = (bounds: string) =>
    planOf(jobText(`reconcile: {rows: gateway, expect: {${bounds}}}\n`)).reconcile;

  it('bounds the calls that nobody billed, with the amount or alone, and nothing by itself', () => {
    expect(expected('unbilled: 0')).toMatchObject({ unmatchedNanoUsdMax: null, unbilledMax: 0 });
    expect(expected('unbilled: 3, unmatched_usd: 1')).toMatchObject({
      unmatchedNanoUsdMax: 1_000_000_000,
      unbilledMax: 3,
    });
    expect(expected('unmatched_usd: 1')).not.toHaveProperty('unbilledMax');
    for (const wrong of ['-1', '0.5', 'none'])
      expect(() => expected(`unbilled: ${wrong}`)).toThrow('unbilled');
  });
});

describe('bounds', () => {
  it('refuses 50 MB in milliseconds, before parsing (JOB104)', () => {
    const text = 'a'.repeat(50 * 1024 * 1024);
    const bytes = new TextEncoder().encode(text);
    const start = performance.now();
    const codes = [text, bytes].map(
      (source) => compileJob({ path: 'job.yaml', text: source }, testWorld).diagnostics[0]?.code,
    );
    expect(performance.now() - start).toBeLessThan(200);
    expect(codes).toEqual(['JOB104', 'JOB104']);
  });

  it('shows at most fifty findings, and says how many more there are', () => {
    const more = Array.from({ length: 200 }, (_, index) => `key${index}: 1\n`).join('');
    const { diagnostics } = compileJob({ path: 'job.yaml', text: jobText(more) }, testWorld);
    expect(diagnostics).toHaveLength(DIAGNOSTICS_MAX);
    expect(diagnostics.at(-1)?.message).toBe('151 more findings are not shown');
  });

  it.each(['[', '{a: ', '- ', '? ', '"', '${{', '&a [*a, ', '!', '|\n', '\ufeff'])(
    'survives %j repeated without end',
    (piece) => {
      for (const head of ['', 'kind: job\nlabels: ']) {
        const { plan, diagnostics } = compileJob(
          { path: 'job.yaml', text: head + piece.repeat(5_000) },
          testWorld,
        );
        expect(plan).toBeNull();
        expect(diagnostics.length).toBeGreaterThan(0);
      }
    },
  );

  it('survives keys that are names of object internals', () => {
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const text = jobText(
        `    tags: {${key}: x}\n    matrix: {${key}: [a]}\nlabels: {${key}: x}\n${key}: {a: b}\n`,
      );
      expect(compileJob({ path: 'job.yaml', text }, testWorld).plan).toBeNull();
    }
  });
});

describe('the world', () => {
  it('asks whether secrets exist, and says where it looked (JOB313)', () => {
    const text = jobText('    secrets: {TOKEN: token}\nsecrets: {token: {from: env, name: GIT_TOKEN}}\n');
    const asked: unknown[] = [];
    const world: JobWorld = { ...testWorld, secretExists: (reference) => asked.push(reference) === 0 };
    const { diagnostics } = compileJob({ path: 'job.yaml', text }, world);
    expect(asked).toEqual([{ from: 'env', name: 'GIT_TOKEN' }]);
    expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
      [
        'JOB313',
        'the secret "token" is not where the job says: the environment variable GIT_TOKEN is not set',
      ],
    ]);
  });

  it('does not check models nobody can list', () => {
    const { diagnostics } = compileJob(
      { path: 'job.yaml', text: jobText('    model: unheard-of\n') },
      { ...testWorld, models: null },
    );
    expect(diagnostics).toEqual([]);
  });

  it('counts on prices only where somebody knows them, and on none without an amount (JOB333)', () => {
    const codes = (more: string, hasPrice: JobWorld['hasPrice']): readonly string[] => {
      const text = jobText(more);
      const world = { ...testWorld, ...(hasPrice === undefined ? {} : { hasPrice }) };
      return compileJob({ path: 'job.yaml', text }, world).diagnostics.map(({ code }) => code);
    };
    const limited = '    limits: {usd: 1}\n';
    expect(codes(limited, () => false)).toEqual(['JOB333']);
    expect(codes('budget: {usd: 1, reserve: 1, mode: observe}\n', () => false)).toEqual(['JOB333']);
    expect(codes(limited, () => null)).toEqual([]);
    expect(codes(limited, () => true)).toEqual([]);
    expect(codes('', () => false)).toEqual([]);
  });

  it('accepts a byte order mark and Windows line ends', () => {
    const windows = `\ufeff${jobText().replaceAll('\n', '\r\n')}`;
    expect(planOf(windows).hash).toBe(planOf(jobText()).hash);
    expect(
      compileJob({ path: 'job.yaml', text: new TextEncoder().encode(windows) }, testWorld).plan,
    ).not.toBeNull();
  });
});

describe('hashes', () => {
  it('do not depend on the path of the file', () => {
    expect(planOf(goldenText('ok/full.yaml'), testWorld, '/a/b.yaml')).toEqual(
      planOf(goldenText('ok/full.yaml')),
    );
  });

  it.each(['ok/full.yaml', 'ok/matrix.yaml', 'ok/three.yaml'])(
    'of %s do not depend on the order of maps',
    (file) => {
      const expected = planOf(goldenText(file));
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => {
          expect(planOf(shuffledMaps(goldenText(file), seed))).toEqual(expected);
        }),
        { numRuns: 40 },
      );
    },
  );

  it('change with every field of an item', () => {
    const texts = [
      '',
      '    priority: 1\n',
      '    limits: {turns: 1}\n',
      '    tags: {a: b}\n',
      '    repo: a/b\n',
      '    verify: make\n',
      '    key: b\n',
    ];
    const hashes = texts.map((more) => planOf(jobText(more)).items[0]?.specHash);
    expect(new Set(hashes).size).toBe(texts.length);
  });

  it('are taken over canonical JSON of everything else', () => {
    const { hash, ...rest } = planOf(jobText());
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(planOf(jobText(), { ...testWorld, sha256: (text) => `${sha256(text)}!` }).hash).not.toBe(hash);
    expect(rest.items[0]?.index).toBe(0);
  });
});

/** Every map of the text in another order, but for the axes of a matrix, whose order is meant. */
function shuffledMaps(text: string, seed: number): string {
  const document = parseDocument(text);
  let state = seed;
  const next = (): number => (state = (state * 48271) % 2147483647);
  visit(document, {
    Pair(_, pair) {
      const isAxes = String(pair.key) === 'matrix';
      if (isMap(pair.value) && !isAxes)
        pair.value.items = pair.value.items
          .map((item) => ({ item, at: next() }))
          .sort((a, b) => a.at - b.at)
          .map(({ item }) => item);
    },
  });
  return document.toString({ lineWidth: 0 });
}

describe('expansion', () => {
  it('has as many items as combinations, less exclusions, more inclusions, with unique keys', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 0, max: 5 }),
        (a, b, excluded) => {
          const gone = Math.min(excluded, a - 1);
          const list = (count: number): string =>
            Array.from({ length: count }, (_, at) => `v${at}`).join(', ');
          const exclude = Array.from({ length: gone }, (_, at) => `{x: v${at}}`).join(', ');
          const text = jobText(
            `    matrix: {x: [${list(a)}], y: [${list(b)}]}\n    exclude: [${exclude}]\n    include: [{x: new, y: new}]\n`,
          );
          const { items } = planOf(text);
          expect(items).toHaveLength((a - gone) * b + 1);
          expect(new Set(items.map((item) => item.key)).size).toBe(items.length);
          expect(items.map((item) => item.index)).toEqual(items.map((_, at) => at));
        },
      ),
    );
  });

  it('compiles 200 conversations quickly', () => {
    const entry = (at: number): string =>
      `  - {id: c${at}, prompt: Fix it., repo: acme/r${at}, tags: {owner: core}}\n`;
    const text = `kind: job\nversion: 1\nname: many\ndefaults: {model: fast}\nconversations:\n${Array.from({ length: 200 }, (_, at) => entry(at)).join('')}`;
    const start = performance.now();
    expect(planOf(text).items).toHaveLength(200);
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it('takes amounts exactly and durations in milliseconds', () => {
    const { items, budget, wait } = planOf(goldenText('ok/full.yaml'));
    expect(items.map((item) => item.limits.nanoUsd)).toEqual([2_500_000_000, 1]);
    expect(budget).toEqual({ nanoUsd: 350_000_000_000, reserveNanoUsd: 750_000_000, mode: 'audit' });
    expect(wait).toMatchObject({ deadlineMs: 39_600_000, noProgressMs: null });
    expect(planOf(jobText('    limits: {usd: "2.50"}\n')).hash).toBe(
      planOf(jobText('    limits: {usd: 2.50}\n')).hash,
    );
  });
});
