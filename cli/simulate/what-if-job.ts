/**
 * `--what-if`: the job as it is beside the job with changes, under the same seeds.
 * Owns the comparison as text and records; what is counted is the simulator's business.
 */
import type { PlanAnswer } from '../../simulator/simulate-plan.ts';
import { changedFates, type ChangedFate, type Fate } from '../../simulator/views/compare-answers.ts';
import {
  FIGURE_NAMES,
  figuresOf,
  summarise,
  type FigureName,
  type PlaysSummary,
} from '../../simulator/views/play-figures.ts';
import { type JsonRecord, writeAnswer } from '../../host/records.ts';
import { printable, table } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import { boundedLines } from '../print/bounded-lines.ts';
import { applyChanges, type Change } from './change.ts';
import { playMany, withSeeds } from './play-many.ts';
import type { PlayRequest } from './play-request.ts';
import { changesField, FIGURE_TITLES, figureText, percent, summaryFields } from './sweep-job.ts';

/** A longer list is for --json. */
const CHANGED_SHOWN_MAX = 50;

export interface WhatIfRequest {
  readonly request: PlayRequest;
  readonly changes: readonly Change[];
  readonly seeds: number;
  readonly json: boolean;
}

/** One conversation that fares otherwise, as the first seed has it in which it does, and in how many it does. */
interface Changed {
  readonly fate: ChangedFate;
  readonly seed: number;
  seeds: number;
}

interface Comparison {
  readonly before: PlaysSummary;
  readonly after: PlaysSummary;
  readonly changed: readonly Changed[];
}

export function whatIfJob(shell: Shell, whatIf: WhatIfRequest): void {
  const comparison = compare(shell, whatIf);
  const lines = describe(whatIf, comparison).map(printable);
  writeAnswer(shell.stdout, whatIf, { records: recordsOf(whatIf, comparison), lines });
}

function compare(shell: Shell, { request, changes, seeds }: WhatIfRequest): Comparison {
  const changedRequest = { ...request, setup: applyChanges(request.setup, changes) };
  const pairs = withSeeds(request, seeds).flatMap((one) => [one, { ...changedRequest, seed: one.seed }]);
  const before: ReturnType<typeof figuresOf>[] = [];
  const after: ReturnType<typeof figuresOf>[] = [];
  const changed = new Map<string, Changed>();
  const waiting: { answer: PlanAnswer | null } = { answer: null };
  playMany(shell, pairs, (answer, index) => {
    if (index % 2 === 0) waiting.answer = answer;
    (index % 2 === 0 ? before : after).push(figuresOf(answer));
    if (index % 2 === 0 || waiting.answer === null) return;
    for (const fate of changedFates(waiting.answer, answer)) {
      const known = changed.get(fate.key);
      if (known === undefined) changed.set(fate.key, { fate, seed: pairs[index]?.seed ?? 0, seeds: 1 });
      else known.seeds += 1;
    }
  });
  return { before: summarise(before), after: summarise(after), changed: [...changed.values()] };
}

function describe({ changes, seeds, request }: WhatIfRequest, comparison: Comparison): string[] {
  const { before, after, changed } = comparison;
  const fates = changed.map((one) => `  ${changedText(one, seeds)}`);
  const title = `what if ${changes.map(({ key, value }) => `${key}=${value}`).join(', ')}`;
  const success = [before.successShare, after.successShare] as const;
  return [
    `${request.setup.plan.name}: ${title}`,
    seeds === 1 ? `seed ${request.seed}` : `medians over ${seeds} seeds from ${request.seed} on`,
    '',
    ...table(
      [
        { title: 'figure' },
        { title: 'as it is', side: 'right' },
        { title: 'what if', side: 'right' },
        { title: 'difference', side: 'right' },
      ],
      [
        ...FIGURE_NAMES.map((name) => figureRow(name, before, after)),
        ['success', percent(success[0]), percent(success[1]), signed(success[1] - success[0], percent)],
      ],
    ),
    '',
    changed.length === 0 ? 'no conversation fares otherwise' : `${changed.length} fare otherwise:`,
    ...boundedLines(fates, CHANGED_SHOWN_MAX),
  ];
}

function figureRow(name: FigureName, before: PlaysSummary, after: PlaysSummary): string[] {
  const was = before.spreads[name].p50;
  const is = after.spreads[name].p50;
  const difference =
    was === is ? '0' : Number.isFinite(is - was) ? signed(is - was, (value) => figureText(name, value)) : '-';
  return [FIGURE_TITLES[name], figureText(name, was), figureText(name, is), difference];
}

function signed(value: number, form: (value: number) => string): string {
  if (value === 0) return '0';
  return `${value < 0 ? '-' : '+'}${form(Math.abs(value))}`;
}

function changedText({ fate, seeds: count }: Changed, seeds: number): string {
  const { key, before, after, gained, lost } = fate;
  const ends = before?.outcome === after?.outcome ? [] : [`${outcomeText(before)} -> ${outcomeText(after)}`];
  const limits = [...gained.map((limit) => `+${limit}`), ...lost.map((limit) => `-${limit}`)];
  const often = seeds === 1 ? '' : ` (in ${count} of ${seeds} seeds)`;
  return `${key}: ${[...ends, ...limits].join(', ')}${often}`;
}

function outcomeText(fate: Fate | null): string {
  return fate === null ? 'not there' : (fate.outcome ?? 'not ended');
}

function recordsOf(
  { changes, request: { seed: first } }: WhatIfRequest,
  { before, after, changed }: Comparison,
): readonly JsonRecord[] {
  const fates = changed.map(({ fate, seed, seeds }) => ({
    type: 'changed',
    key: fate.key,
    outcome_before: fate.before?.outcome ?? null,
    outcome_after: fate.after?.outcome ?? null,
    met_gained: fate.gained,
    met_lost: fate.lost,
    ...{ seed, seeds },
  }));
  const sums = { before: summaryFields(before), after: summaryFields(after) };
  return [...fates, { type: 'what_if', changes: changesField(changes), seed: first, ...sums }];
}
