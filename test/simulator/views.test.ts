/** What is read from answers: percentiles, figures of many plays, curves, comparisons, the page. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conversationId, userId, type ConversationId, type SandboxId, type UserId } from '../../core/ids.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_DEFAULT } from '../../simulator/models/model-options.ts';
import { simulatePlan, type PlanAnswer } from '../../simulator/simulate-plan.ts';
import {
  CurveRecorder,
  activityCurve,
  boundedPeaks,
  CURVE_POINTS_MAX,
} from '../../simulator/views/curves.ts';
import { changedFates } from '../../simulator/views/compare-answers.ts';
import { GANTT_ROWS_MAX, planPage } from '../../simulator/views/plan-page.ts';
import { escapeText } from '../../report/page/page.ts';
import { conversationTimes, figuresOf, summarise } from '../../simulator/views/play-figures.ts';
import { percentile, spreadOf } from '../../simulator/views/spread.ts';
import { agent, item, plan, POLICY } from '../conformance/script-parts.ts';
import { question } from './questions.ts';

const values = fc.array(fc.double({ min: 0, noNaN: true }), { minLength: 1, maxLength: 200 });
const shares = fc.double({ min: 0.01, max: 1, noNaN: true });

describe('percentile()', () => {
  it('is a value that the share does not exceed, and no smaller one is', () => {
    fc.assert(
      fc.property(values, shares, (all, share) => {
        const found = percentile(all, share);
        const upTo = (limit: number): number => all.filter((value) => value <= limit).length;
        expect(all).toContain(found);
        expect(upTo(found)).toBeGreaterThanOrEqual(Math.ceil(share * all.length));
        const below = all.filter((value) => value < found).length;
        expect(below).toBeLessThan(share * all.length);
      }),
    );
  });

  it('does not mind the order, and grows with the share', () => {
    fc.assert(
      fc.property(values, shares, shares, (all, one, other) => {
        expect(percentile([...all].reverse(), one)).toBe(percentile(all, one));
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        expect(percentile(all, low)).toBeLessThanOrEqual(percentile(all, high));
      }),
    );
  });

  it('has known values', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    expect(spreadOf(hundred)).toEqual({ p50: 50, p95: 95, max: 100 });
    expect(spreadOf([7])).toEqual({ p50: 7, p95: 7, max: 7 });
    expect(spreadOf([3, Infinity, 1])).toEqual({ p50: 3, p95: Infinity, max: Infinity });
    expect(spreadOf([])).toBeNull();
    expect(() => percentile([], 0.5)).toThrow('there are no values');
  });
});

describe('summarise()', () => {
  it('counts who met what in each play, and success over all of them', () => {
    const quiet = agent({ quiet: { share: 1, length: fixed(25 * MINUTE_MS), leased: 0 } });
    const [plain, paused] = [simulatePlan(question(4)), simulatePlan({ ...question(2), models: quiet })];
    expect(figuresOf(paused)).toMatchObject({ idlePauses: 2, sessionCaps: 0, conversations: 2 });
    const summary = summarise([figuresOf(plain), figuresOf(paused)]);
    expect(summary).toMatchObject({ plays: 2, successShare: 1 });
    expect(summary.spreads.idlePauses).toEqual({ p50: 0, p95: 2, max: 2 });
    expect(summary.spreads.costNanoUsd.max).toBe(plain.costNanoUsd);
  });

  it('puts a play that did not end behind all others', () => {
    const open = simulatePlan({ ...question(1), untilMs: MINUTE_MS });
    const ended = simulatePlan(question(1));
    const { makespanMs } = summarise([figuresOf(open), figuresOf(ended)]).spreads;
    expect(makespanMs).toEqual({ p50: ended.makespanMs, p95: Infinity, max: Infinity });
    expect(conversationTimes(open.conversations)).toEqual([]);
    expect(() => summarise([])).toThrow('nothing was played');
  });
});

describe('changedFates()', () => {
  it('names those that end otherwise or meet other limits, and nobody else', () => {
    const before = simulatePlan(question(3));
    const small = { ...POLICY, capacity: { ...POLICY.capacity, installationMax: 1 } };
    const after = simulatePlan({ ...question(3), policy: small });
    const changed = changedFates(before, after);
    const meeting = after.conversations.filter(({ met }) => met.includes('capacity')).map(({ key }) => key);
    expect(meeting.length).toBeGreaterThan(0);
    expect(changed.map(({ key }) => key)).toEqual(meeting);
    expect(changed[0]).toMatchObject({ gained: ['capacity'], lost: [] });
    expect(changedFates(after, before)[0]).toMatchObject({ gained: [], lost: ['capacity'] });
    expect(changedFates(before, before)).toEqual([]);
    const fewer: PlanAnswer = { ...before, conversations: before.conversations.slice(1) };
    expect(changedFates(before, fewer)).toMatchObject([{ key: 'item-0', after: null }]);
    expect(changedFates(fewer, before)).toMatchObject([{ key: 'item-0', before: null }]);
  });
});

describe('curves of a play', () => {
  const asked = { ...question(40, { admission: { concurrency: 7 } }), models: MODELS_DEFAULT, curves: true };
  const answer = simulatePlan(asked);
  const { curves } = answer;
  if (curves === null) throw new Error('there are no curves');

  it('reach the peak of slots, and give every slot back', () => {
    expect(Math.max(...curves.slots.map(({ value }) => value))).toBe(answer.sandboxesPeak);
    expect(curves.slots[0]).toEqual({ at: asked.startAt, value: 0 });
    expect(curves.slots.at(-1)?.value).toBe(0);
    expect(curves.slotsMax).toBe(100);
  });

  it('never lose money, and end with the cost of the job', () => {
    const cost = curves.costNanoUsd.map(({ value }) => value);
    expect(cost).toEqual([...cost].sort((a, b) => a - b));
    expect(cost.at(-1)).toBe(answer.costNanoUsd);
    expect(cost.length).toBeGreaterThan(40);
  });

  it('account for every conversation at every instant', () => {
    for (const { queued, starting, working, paused, ended } of curves.activities)
      expect(queued + starting + working + paused + ended).toBe(40);
    expect(curves.activities.at(-1)).toMatchObject({ ended: 40 });
    const instants = curves.activities.map(({ at }) => at);
    expect(instants).toEqual([...new Set(instants)].sort((a, b) => a - b));
  });

  it('are left out when nobody asks, and change nothing', () => {
    const { curves: none, ...plain } = simulatePlan({ ...asked, curves: false });
    expect(none).toBeNull();
    expect(answer).toMatchObject(plain);
  });

  it('stay bounded however long the play is, with the peak and the sum', () => {
    const slots = new Map<SandboxId, UserId>();
    const facts = { policy: POLICY, slots, spentBy: (_: ConversationId, now: number) => now };
    const recorder = new CurveRecorder(facts, 0);
    const after = { spec: { conversationId: conversationId('c'.repeat(32)) } };
    for (let at = 1; at <= 50_000; at += 1) {
      slots.clear();
      const held = at === 12_345 ? 90 : at % 7;
      for (let one = 0; one < held; one += 1) slots.set(String(one) as SandboxId, userId('local'));
      recorder.add({ at, address: { machine: 'conversation' }, after });
    }
    const { slots: curve, costNanoUsd, slotsMax } = recorder.read(60_000);
    expect(slotsMax).toBe(100);
    for (const points of [curve, costNanoUsd]) {
      expect(points.length).toBeLessThanOrEqual(CURVE_POINTS_MAX);
      expect(points.length).toBeGreaterThan(CURVE_POINTS_MAX / 4);
    }
    expect(curve).toContainEqual({ at: 12_345, value: 90 });
    expect(costNanoUsd.at(-1)).toEqual({ at: 60_000, value: 60_000 });
    for (const { at, value } of costNanoUsd) expect(value).toBe(at);
  });

  it('keep the highest and the last point when they are thinned', () => {
    const points = fc.array(fc.record({ at: fc.nat(10_000), value: fc.nat(50) }), { minLength: 1 });
    fc.assert(
      fc.property(points, fc.integer({ min: 2, max: 40 }), (given, max) => {
        const sorted = [...given].sort((a, b) => a.at - b.at);
        const kept = boundedPeaks(sorted, max);
        expect(kept.length).toBeLessThanOrEqual(Math.max(max, 2));
        expect(Math.max(...kept.map(({ value }) => value))).toBe(
          Math.max(...sorted.map(({ value }) => value)),
        );
        expect(kept.at(-1)?.at).toBe(sorted.at(-1)?.at);
      }),
    );
  });

  it('count activities of timelines', () => {
    const curve = activityCurve([
      {
        stretches: [
          { from: 0, as: 'queued' },
          { from: 5, as: 'working' },
        ],
      },
      { stretches: [{ from: 0, as: 'queued' }] },
    ]);
    expect(curve).toEqual([
      { at: 0, queued: 2, starting: 0, working: 0, paused: 0, ended: 0 },
      { at: 5, queued: 1, starting: 0, working: 1, paused: 0, ended: 0 },
    ]);
  });
});

describe('planPage()', () => {
  const page = (answer: PlanAnswer, name = 'demo'): string =>
    planPage({ name, answer, startAt: 1_700_000_000_000, seed: 1 });

  it('has a figure for each curve, titles for those who cannot see them, and a table beside', () => {
    const html = page(simulatePlan({ ...question(3), curves: true }));
    const figures = [...html.matchAll(/<figure id="([a-z]+)" class="card">/g)].map(([, id]) => id);
    expect(figures).toEqual(['gantt', 'capacity', 'cost', 'status']);
    for (const id of figures) {
      expect(html).toMatch(new RegExp(`aria-labelledby="${id}-title ${id}-text"`));
      expect(html).toMatch(new RegExp(`<title id="${id}-title">[^<]+</title>`));
      expect(html).toMatch(new RegExp(`<desc id="${id}-text">[^<]+</desc>`));
    }
    expect([...html.matchAll(/<rect class="working"/g)]).toHaveLength(3);
    expect(html).toContain('<dt>Makespan</dt><dd>');
    expect(html).toContain('<td>item-2</td><td>succeeded</td>');
    expect(html).not.toMatch(/NaN|Infinity|undefined|null/);
  });

  it('asks nothing of the network, and says so to the browser', () => {
    const html = page(simulatePlan({ ...question(3), curves: true }));
    expect(html).toContain("default-src 'none'; style-src 'sha256-");
    expect(html).not.toMatch(/<script|<link|<img|<iframe|url\(|@import|src=|href=|https?:/i);
  });

  it('draws no curves that are not there, and what did not end as it stands', () => {
    const html = page(simulatePlan({ ...question(2), untilMs: 5 * MINUTE_MS }));
    expect(html).toContain('not all have ended');
    expect(html).not.toContain('<figure id="cost"');
  });

  it('escapes every text of a job', () => {
    const bad = `<script>alert('1')</script>&"\u202e`;
    const items = [{ ...item(0), key: bad }];
    const html = page(simulatePlan({ ...question(1), plan: plan(1, { items }), curves: true }), bad);
    expect(html).not.toContain('<script');
    expect(html).not.toContain('\u202e');
    expect(html).toContain('&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;');
    fc.assert(fc.property(fc.string(), (text) => !/[<>"']/.test(escapeText(text))));
  });

  it('stays bounded with a note', () => {
    const answer = simulatePlan({ ...question(1), curves: true });
    const [one] = answer.conversations;
    if (one === undefined) throw new Error('there is no conversation');
    const conversations = Array.from({ length: 1_200 }, (_, at) => ({ ...one, key: `copy-${at}` }));
    const html = page({ ...answer, conversations });
    expect(html).toContain(`the first ${GANTT_ROWS_MAX} of 1200`);
    expect(html).toContain('and 200 more; see --json');
    expect([...html.matchAll(/<rect class="working"/g)]).toHaveLength(GANTT_ROWS_MAX);
  });
});
