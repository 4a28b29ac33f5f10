/**
 * What conversations cost on Temporal: events of history, time and memory, beside the same work in the ordinary way.
 * Owns what is compared with what; figures are printed, never asserted. docs/bench.md says how to read them.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { tell } from './all/figure.ts';
import { measureBusySandbox } from './temporal/busy-sandbox.ts';
import { measureConversationCost } from './temporal/cost/conversation-cost.ts';
import { conversationCostLines } from './temporal/cost/lines.ts';
import { measureHistoryCost } from './temporal/history-cost.ts';
import { measureOpenConversations } from './temporal/open-conversations.ts';
import { measurePolicyScenario } from './temporal/policy-scenario.ts';
import {
  busySandboxLines,
  historyCostLines,
  openConversationsLines,
  policyScenarioLines,
  speedLines,
} from './temporal/lines.ts';
import { cannotSkip } from './temporal/skipping-ground.ts';
import { measureSpeed } from './temporal/speed.ts';

/** In this order: what counts calls of the whole process comes first, what takes longest last. */
const PARTS = ['cost', 'history', 'speed', 'busy', 'policy', 'open'] as const;
type Part = (typeof PARTS)[number];
/** Played on the server that skips time. */
const SKIPPING: readonly Part[] = ['busy', 'policy'];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: PARTS.join(',') },
    json: { type: 'boolean', default: false },
    listing: { type: 'boolean', default: false },
    conversations: { type: 'string', default: '200' },
    repeats: { type: 'string', default: '3' },
    touches: { type: 'string', default: '5000' },
    'ordinary-touches': { type: 'string', default: '500' },
    open: { type: 'string', default: '1000,10000' },
    'at-once': { type: 'string', default: '40' },
  },
});
/** The history part: as many as its aims are stated for. */
const COUNTED = { conversations: 8, atOnce: 4, activityMs: 150 };

/** Figures of one part, and how they are told. */
interface Told {
  readonly figures: unknown;
  readonly lines: readonly string[];
}

/** As the earlier figures of this cost were taken: a run that keeps its places filled. */
const COSTED = { conversations: 40, atOnce: 10, activityMs: 150, pollMs: 5_000 };

const measures: Readonly<Record<Part, () => Promise<Told>>> = {
  async cost() {
    const cost = await measureConversationCost(COSTED);
    for (const line of conversationCostLines(cost)) tellRow(line);
    return { figures: { load: COSTED, ...cost }, lines: conversationCostLines(cost) };
  },
  async history() {
    const cost = await measureHistoryCost(COUNTED);
    const all = cost.alone.own + cost.alone.sandbox;
    const item = cost.inRun.own + cost.inRun.sandbox + cost.inRun.shareOfRun;
    tell({
      what: 'history: events of a conversation by itself',
      value: cost.alone.own,
      unit: '',
      aim: ['≤', 60],
    });
    tell({ what: 'history: with those of its sandbox', value: all, unit: '', aim: ['≤', 85] });
    tell({
      what: 'history: to the ordinary way',
      value: all / cost.ordinary,
      unit: 'times',
      aim: ['≤', 0.8],
    });
    tell({ what: 'history: an item of a run, with its share', value: item, unit: '' });
    return { figures: { load: COUNTED, ...cost }, lines: historyCostLines(cost, values.listing) };
  },
  async speed() {
    const load = { conversations: Number(values.conversations), atOnce: 20, repeats: Number(values.repeats) };
    const speed = await measureSpeed(load, (name, once) =>
      progress([name, ...speedLines(once)].join('\n  ')),
    );
    const { ours, ordinary, emptyPerSecond } = speed;
    tell({ what: 'speed: conversations a second', value: ours.perSecond, unit: '' });
    tell({
      what: 'speed: to empty workflows',
      value: ours.perSecond / emptyPerSecond,
      unit: 'times',
      aim: ['≥', 0.15],
    });
    tell({
      what: 'speed: to the ordinary way',
      value: ours.perSecond / ordinary.perSecond,
      unit: 'times',
      aim: ['≥', 1],
    });
    tell({ what: 'speed: start to READY, p50', value: ours.readyP50Ms, unit: 'ms' });
    return { figures: { load, ...speed }, lines: speedLines(speed) };
  },
  async busy() {
    const load = { touches: Number(values.touches), ordinaryTouches: Number(values['ordinary-touches']) };
    const busy = await measureBusySandbox(load);
    tell({ what: `busy: events for ${busy.touches} touches`, value: busy.events, unit: '', aim: ['≤', 60] });
    return { figures: busy, lines: busySandboxLines(busy, values.listing) };
  },
  async policy() {
    const policy = await measurePolicyScenario();
    const faster = policy.temporalSeconds / policy.simulatorSeconds;
    tell({
      what: 'policy: simulator to the server that skips time',
      value: faster,
      unit: 'times',
      aim: ['≥', 1_000],
    });
    return { figures: policy, lines: policyScenarioLines(policy) };
  },
  async open() {
    const load = { sizes: openSizes(values.open), atOnce: Number(values['at-once']) };
    const open = await measureOpenConversations(load, {
      onGrowth: ({ open: count, size, startedPerSecond }) => {
        const minutes = Math.ceil((size - count) / startedPerSecond / 60);
        progress(`${count} of ${size} open, ${startedPerSecond.toFixed(1)}/s, about ${minutes} min left`);
      },
      onFound: (found) => progress(openConversationsLines([found]).join('\n')),
    });
    return { figures: { load, sizes: open }, lines: openConversationsLines(open) };
  },
};

/** A row of the table of costs is a figure; the lists by cause below it are not. */
function tellRow(line: string): void {
  const [, what, count, bound] = /^\| (.+?) \| ([\d.]+) \| (\d*) \|$/.exec(line) ?? [];
  if (what === undefined) return;
  const aim = bound === undefined || bound === '' ? {} : { aim: ['≤', Number(bound)] as const };
  tell({ what: `cost: ${what} of an item`, value: Number(count), unit: '', ...aim });
}

function openSizes(text: string): readonly number[] {
  return text
    .split(',')
    .map(Number)
    .toSorted((a, b) => a - b);
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

const names = values.only.split(',');
const unknown = names.find((name) => !PARTS.some((part) => part === name));
if (unknown !== undefined) {
  progress(`Cannot measure "${unknown}": the parts are ${PARTS.join(', ')}`);
  process.exit(2);
}

const numbers = [
  values.conversations,
  values.repeats,
  values.touches,
  values['ordinary-touches'],
  values['at-once'],
  ...values.open.split(','),
];
const wrong = numbers.find((text) => !/^[1-9]\d*$/.test(text));
if (wrong !== undefined) {
  progress(`Cannot measure with "${wrong}": a number from 1 on is needed`);
  process.exit(2);
}

const report: Partial<Record<Part, unknown>> = {};
for (const part of PARTS.filter((one) => names.includes(one))) {
  const missing = SKIPPING.includes(part) ? cannotSkip() : null;
  if (missing !== null) {
    progress(`${part} is left out: ${missing}`);
    tell({ what: part, skipped: missing });
    report[part] = { leftOut: missing };
    continue;
  }
  const { figures, lines } = await measures[part]();
  const load = (loadavg()[0] ?? 0).toFixed(1);
  report[part] = { figures, loadAverage: Number(load) };
  if (!values.json) console.log([`${part} (load ${load})`, ...lines].join('\n  '));
}
if (values.json) console.log(JSON.stringify(report, null, 2));
