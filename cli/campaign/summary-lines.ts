/**
 * What a campaign came to, as text and as a record.
 * Owns the order of the figures; every kind, every pair that is missing and every pair that cannot be is named.
 */
import { HITS_WANTED } from '../../simulator/campaign/seed-order.ts';
import type { Tally } from '../../simulator/campaign/tally.ts';
import { CELLS, IMPOSSIBLE, PAIRS, TRANSITIONS } from '../../simulator/campaign/transitions.ts';
import { FAULT_NAMES, FAULTS } from '../../simulator/faults/catalogue.ts';
import { DAY_MS, SECOND_MS } from '../../core/time.ts';
import { duration } from '../../core/text/amounts.ts';
import type { JsonRecord } from '../../host/records.ts';
import { boundedLines } from '../print/bounded-lines.ts';
import type { Campaign } from './campaign.ts';

const YEAR_MS = 365.25 * DAY_MS;
/** A list longer than this is for --json. */
const LISTED_MAX = 60;
const COLUMN = 30;

export function progressLine({ tally, tookMs, unequal }: Campaign): string {
  const kinds = tally.faultsBelow(HITS_WANTED).length;
  return (
    `campaign: ${duration(tookMs)}, ${tally.runs} runs, ${perSecond(tally.events, tookMs)} events/s, ` +
    `${tally.pairsMissing.length} pairs missing, ${kinds} kinds below ${HITS_WANTED} hits, ` +
    `${tally.failed.length + unequal.length} failed`
  );
}

export function summaryLines(campaign: Campaign): readonly string[] {
  const { tally, tookMs, again, unequal } = campaign;
  const missing = tally.pairsMissing;
  return [
    `runs: ${tally.runs} in ${duration(tookMs)}`,
    `events: ${tally.events}, ${perSecond(tally.events, tookMs)} a second; a run has ${tally.eventsMedian} in the median, ${tally.eventsMax} at most`,
    `simulated: ${years(tally.simulatedMs)} years`,
    `faults: ${tally.injected} struck; ${FAULT_NAMES.length} kinds`,
    ...FAULT_NAMES.map((fault) => {
      const hits = tally.hits('faults', fault);
      const mark = hits < HITS_WANTED ? `  below ${HITS_WANTED}` : '';
      return `  ${fault.padEnd(COLUMN)} ${FAULTS[fault].class.padEnd(10)} ${String(hits).padStart(8)}${mark}`;
    }),
    `transitions: ${TRANSITIONS.length - tally.transitionsMissing.length} of ${TRANSITIONS.length} taken`,
    ...listed(tally.transitionsMissing),
    `cells of the tables: ${CELLS.length - tally.cellsMissing.length} of ${CELLS.length}`,
    `pairs of a transition and a class of fault: ${PAIRS.length - missing.length} of ${PAIRS.length}`,
    ...listed(missing),
    `pairs that cannot be: ${IMPOSSIBLE.length}`,
    ...IMPOSSIBLE.map(
      ({ transition, faultClass, reason }) => `  ${transition} | ${faultClass ?? 'any'}: ${reason}`,
    ),
    `played a second time: ${again.played}, ${again.elsewhere} of them in another process; ${unequal.length} unequal`,
    ...unequal.map(({ seed, hashes }) => `  seed ${seed}: ${hashes.join(' and ')}`),
    `violations: ${tally.failed.length}`,
    ...listed(
      tally.failed.map(({ seed, violations: [first] }) => `seed ${seed}: ${first?.name}: ${first?.problem}`),
    ),
  ];
}

export function summaryRecord(campaign: Campaign, build: string): JsonRecord {
  const { tally, tookMs, again, unequal } = campaign;
  return {
    type: 'campaign',
    build,
    runs: tally.runs,
    took_ms: tookMs,
    events: tally.events,
    events_median: tally.eventsMedian,
    events_max: tally.eventsMax,
    simulated_ms: tally.simulatedMs,
    faults: Object.fromEntries(FAULT_NAMES.map((fault) => [fault, tally.hits('faults', fault)])),
    pairs: PAIRS.length,
    pairs_missing: tally.pairsMissing,
    pairs_impossible: IMPOSSIBLE.map(({ transition, faultClass, reason }) => ({
      transition,
      fault_class: faultClass,
      reason,
    })),
    transitions: TRANSITIONS.length,
    transitions_missing: tally.transitionsMissing,
    cells_missing: tally.cellsMissing,
    again: again.played,
    again_elsewhere: again.elsewhere,
    unequal,
    failed_seeds: tally.failed.map(({ seed }) => seed),
  };
}

function listed(lines: readonly string[]): readonly string[] {
  return boundedLines(
    lines.map((line) => `  ${line}`),
    LISTED_MAX,
  );
}

function perSecond(events: number, tookMs: number): number {
  return Math.round((events * SECOND_MS) / Math.max(1, tookMs));
}

function years(ms: Tally['simulatedMs']): string {
  return (ms / YEAR_MS).toFixed(2);
}
