/**
 * What conversations cost on Temporal: events of history, time and memory, beside the same work in the ordinary way.
 * Owns what is compared with what; figures are printed, never asserted. docs/bench.md says how to read them.
 */
import { parseArgs } from 'node:util';
import { lineOf, load, tell, type Shown } from './all/figure.ts';
import { measureBusySandbox } from './temporal/busy-sandbox.ts';
import { measureConversationCost } from './temporal/cost/conversation-cost.ts';
import { measureHistoryCost } from './temporal/history-cost.ts';
import { measureOpenConversations } from './temporal/open-conversations.ts';
import { measurePolicyScenario } from './temporal/policy-scenario.ts';
import {
  busySandboxFigures,
  busySandboxLines,
  conversationCostFigures,
  conversationCostLines,
  historyCostFigures,
  historyListing,
  openConversationsLines,
  policyScenarioFigures,
  speedFigures,
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

/** What one part found, as data, as figures and as the lines below them. */
interface Found {
  readonly figures: unknown;
  readonly shown: readonly Shown[];
  readonly lines: readonly string[];
}

/** As the earlier figures of this cost were taken: a run that keeps its places filled. */
const COSTED = { conversations: 40, atOnce: 10, activityMs: 150, pollMs: 5_000 };

const measures: Readonly<Record<Part, () => Promise<Found>>> = {
  async cost() {
    const cost = await measureConversationCost(COSTED);
    const figures = { load: COSTED, ...cost };
    return { figures, shown: conversationCostFigures(cost), lines: conversationCostLines(cost) };
  },
  async history() {
    const cost = await measureHistoryCost(COUNTED);
    const lines = values.listing ? historyListing(cost) : [];
    return { figures: { load: COUNTED, ...cost }, shown: historyCostFigures(cost), lines };
  },
  async speed() {
    const load = { conversations: Number(values.conversations), atOnce: 20, repeats: Number(values.repeats) };
    const speed = await measureSpeed(load, (name, once) =>
      progress([name, ...speedFigures(once).map((one) => lineOf(...one))].join('\n  ')),
    );
    return { figures: { load, ...speed }, shown: speedFigures(speed), lines: [] };
  },
  async busy() {
    const load = { touches: Number(values.touches), ordinaryTouches: Number(values['ordinary-touches']) };
    const busy = await measureBusySandbox(load);
    return { figures: busy, shown: busySandboxFigures(busy), lines: busySandboxLines(busy, values.listing) };
  },
  async policy() {
    const policy = await measurePolicyScenario();
    return { figures: policy, shown: policyScenarioFigures(policy), lines: [] };
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
    return { figures: { load, sizes: open }, shown: [], lines: openConversationsLines(open) };
  },
};

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
  const { figures, shown, lines } = await measures[part]();
  for (const [figure] of shown) tell(figure);
  const loadAverage = load();
  report[part] = { figures, loadAverage: Number(loadAverage) };
  const texts = [...shown.map((one) => lineOf(...one)), ...lines];
  if (!values.json) console.log([`${part} (load ${loadAverage})`, ...texts].join('\n  '));
}
if (values.json) console.log(JSON.stringify(report, null, 2));
