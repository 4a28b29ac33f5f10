/**
 * A figure that a bench measured, and the aim that it is held against.
 * Owns the way from a bench to the table of all: a file of lines. A bench that is run by itself prints for a person only.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** At least, or at most. */
export type Aim = readonly ['≥' | '≤', number];

export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly aim?: Aim;
}

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

/** All that a bench told, in its order; a figure that is no number was not measured and is left out. */
export function toldIn(file: string): readonly (Figure | Skipped)[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const told = lines.map((line) => JSON.parse(line) as Figure | Skipped);
  return told.filter((one) => 'skipped' in one || Number.isFinite(one.value));
}
