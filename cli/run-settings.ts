/**
 * Settings of a run as they are typed, and who types them.
 * Owns their spelling, the same for `ctl set` and `resume --set`; what they do is decided by the run.
 */
import { parseUsd } from '../core/money/money.ts';
import type { RunSettings } from '../core/run/message.ts';
import { parseRate } from '../dsl/plan/build-admission.ts';
import { CliError } from '../host/cli-error.ts';
import type { Shell } from '../host/shell.ts';

const CONCURRENCY_MAX = 10_000;
const REMEDY = 'write concurrency=20, rate=30/min, rate=none or budget=5.00';

/** Later ones win. @throws CliError */
export function readSettings(texts: readonly string[]): RunSettings {
  if (texts.length === 0) throw new CliError('Cannot set anything: no setting is named', { remedy: REMEDY });
  return texts.reduce<RunSettings>((settings, text) => ({ ...settings, ...readSetting(text) }), {});
}

function readSetting(text: string): RunSettings {
  const at = text.indexOf('=');
  const value = text.slice(at + 1);
  switch (text.slice(0, Math.max(at, 0))) {
    case 'concurrency':
      return { concurrency: wholeNumber(text, value) };
    case 'rate':
      return { startEveryMs: value === 'none' ? null : orRefuse(text, parseRate(value)) };
    case 'budget':
      return { budgetNanoUsd: orRefuse(text, positive(parseUsd(value))) };
    default:
      throw refused(text);
  }
}

function wholeNumber(text: string, value: string): number {
  const count = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  return orRefuse(text, count >= 1 && count <= CONCURRENCY_MAX ? count : null);
}

const positive = (amount: number | null): number | null => (amount !== null && amount > 0 ? amount : null);

function orRefuse(text: string, value: number | null): number {
  if (value === null) throw refused(text);
  return value;
}

function refused(text: string): CliError {
  return new CliError(`Cannot set "${text}": it is no setting of a run`, { remedy: REMEDY });
}

/** Kept beside what was changed; it grants no access. */
export function userName({ env }: Pick<Shell, 'env'>): string {
  return env['USER'] ?? env['LOGNAME'] ?? env['USERNAME'] ?? 'somebody';
}
