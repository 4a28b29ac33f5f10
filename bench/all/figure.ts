/**
 * A figure that a bench measured, and its aim.
 * Owns the file of lines from which the table of all benches is made, and how a figure is printed for a person.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { percentile } from './means.ts';

/** At least, or at most. */
export type Aim = readonly ['≥' | '≤', number];

export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly aim?: Aim;
}

/** A figure with the text printed beside it. */
export type Shown = readonly [figure: Figure, beside?: string];

/** What could not be measured here, and why. */
export interface Skipped {
  readonly what: string;
  readonly skipped: string;
}

/** Names the file, in the environment of a bench. */
export const FIGURES_FILE = 'BENCH_FIGURES';

export function tell(one: Figure | Skipped): void {
  const file = process.env[FIGURES_FILE];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(one)}\n`);
}

/** Records a figure and prints it with the text beside it, for a person who runs one bench. */
export function show(one: Figure | Skipped, beside = ''): void {
  tell(one);
  console.log(lineOf(one, beside));
}

/** Times of one part in milliseconds: their median is the figure, other percentiles are printed beside it. */
export function showTimes(part: string, all: readonly number[], aim?: Aim): void {
  const at = (share: number): string => percentile(all, share).toFixed(1);
  const median = { what: `${part}, p50`, value: percentile(all, 0.5), unit: 'ms', ...(aim && { aim }) };
  show(median, `least ${at(0)}  p95 ${at(0.95)}  p99 ${at(0.99)}  most ${at(1)}`);
}

export function lineOf(one: Figure | Skipped, beside = ''): string {
  if ('skipped' in one) return `skipped: ${one.what}: ${one.skipped}`;
  const { what, value, unit, aim } = one;
  const bound = aim === undefined ? '' : `(aim: ${aim[0]} ${aim[1].toLocaleString('en-US')})`;
  return [`${what}: ${rounded(value)} ${unit}`.trim(), bound, beside]
    .filter((text) => text !== '')
    .join('  ');
}

/** Of the machine, in the last minute: what else it did says how far a figure can be trusted. */
export const load = (): string => (loadavg()[0] ?? 0).toFixed(1);

/** The significant digits. */
const DIGITS = 3;

export function rounded(value: number): string {
  const digits = Math.max(0, DIGITS - 1 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return Number(value.toFixed(digits)).toLocaleString('en-US', { maximumFractionDigits: digits });
}

/** All that a bench recorded, in its order; a figure that is no number was not measured and is left out. */
export function toldIn(file: string): readonly (Figure | Skipped)[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const told = lines.map((line) => JSON.parse(line) as Figure | Skipped);
  return told.filter((one) => 'skipped' in one || Number.isFinite(one.value));
}
