/**
 * `--sweep`: every combination of the values under every seed, one row each.
 * Owns the table and its records; what is counted is the simulator's business.
 */
import {
  FIGURE_NAMES,
  figuresOf,
  summarise,
  type FigureName,
  type PlaysSummary,
} from '../../simulator/views/play-figures.ts';
import type { Spread } from '../../simulator/views/spread.ts';
import { duration, usd } from '../../core/text/amounts.ts';
import { writeAnswer } from '../../host/records.ts';
import { table, type Column } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import { applyChanges, type Change } from './change.ts';
import { playMany, withSeeds } from './play-many.ts';
import type { PlayRequest } from './play-request.ts';

export interface SweepRequest {
  readonly request: PlayRequest;
  readonly combinations: readonly (readonly Change[])[];
  readonly seeds: number;
  readonly json: boolean;
}

interface SweepRow {
  readonly changes: readonly Change[];
  readonly summary: PlaysSummary;
}

export function sweepJob(shell: Shell, { request, combinations, seeds, json }: SweepRequest): void {
  const requests = combinations.flatMap((changes) =>
    withSeeds({ ...request, setup: applyChanges(request.setup, changes) }, seeds),
  );
  const figures: ReturnType<typeof figuresOf>[] = [];
  playMany(shell, requests, (answer) => void figures.push(figuresOf(answer)));
  const rows = combinations.map((changes, at) => ({
    changes,
    summary: summarise(figures.slice(at * seeds, (at + 1) * seeds)),
  }));
  const { seed } = request;
  const records = rows.map(({ changes, summary }) => ({
    ...{ type: 'sweep', changes: changesField(changes), seed },
    ...summaryFields(summary),
  }));
  writeAnswer(shell.stdout, { json }, { records, lines: [...sweepTable(rows), '', legend(seeds, seed)] });
}

export const FIGURE_TITLES: Readonly<Record<FigureName, string>> = {
  makespanMs: 'makespan',
  costNanoUsd: 'cost',
  sandboxesPeak: 'sandboxes',
  idlePauses: 'idle pause',
  sessionCaps: 'session cap',
  capacityMet: 'capacity',
  budgetMet: 'budget',
};

/** Shown in the table; the budget of a job is in the records. */
const SHOWN = FIGURE_NAMES.filter((name) => name !== 'budgetMet');

function sweepTable(rows: readonly SweepRow[]): string[] {
  const keys = rows[0]?.changes.map(({ key }) => key) ?? [];
  const columns: Column[] = [
    ...keys.map((title) => ({ title, side: 'right' as const })),
    { title: 'success', side: 'right' },
    ...SHOWN.map((name) => ({ title: FIGURE_TITLES[name], side: 'right' as const })),
  ];
  return table(
    columns,
    rows.map(({ changes, summary }) => [
      ...changes.map(({ value }) => String(value)),
      percent(summary.successShare),
      ...SHOWN.map((name) => spreadText(name, summary.spreads[name])),
    ]),
  );
}

function legend(seeds: number, first: number): string {
  const from = seeds === 1 ? `seed ${first}` : `${seeds} seeds from ${first} on`;
  return `p50 / p95 / max over ${from}; the last three count conversations that met a pause, the cap or full capacity`;
}

function spreadText(name: FigureName, { p50, p95, max }: Spread): string {
  return [p50, p95, max].map((value) => figureText(name, value)).join(' / ');
}

export function figureText(name: FigureName, value: number): string {
  switch (name) {
    case 'makespanMs':
      return Number.isFinite(value) ? duration(value) : 'not ended';
    case 'costNanoUsd':
      return usd(value);
    case 'sandboxesPeak':
    case 'idlePauses':
    case 'sessionCaps':
    case 'capacityMet':
    case 'budgetMet':
      return String(value);
  }
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

export function changesField(changes: readonly Change[]): Readonly<Record<string, string | number>> {
  return Object.fromEntries(changes.map(({ key, value }) => [key, value]));
}

/** Null stands for a makespan that did not come to an end. */
export function summaryFields({
  plays,
  successShare,
  spreads,
}: PlaysSummary): Readonly<Record<string, unknown>> {
  return {
    plays,
    success_share: successShare,
    makespan_ms: spreadField(spreads.makespanMs),
    cost_nano_usd: spreadField(spreads.costNanoUsd),
    sandboxes_peak: spreadField(spreads.sandboxesPeak),
    idle_pause: spreadField(spreads.idlePauses),
    session_cap: spreadField(spreads.sessionCaps),
    capacity: spreadField(spreads.capacityMet),
    budget: spreadField(spreads.budgetMet),
  };
}

function spreadField({ p50, p95, max }: Spread) {
  const field = (value: number): number | null => (Number.isFinite(value) ? value : null);
  return { p50: field(p50), p95: field(p95), max: field(max) };
}
