/**
 * A value of an expression as people read it.
 * Owns the spelling in failure messages; must not decide what is shown.
 */
import { formatDuration } from '../duration.ts';
import { durationMsOf } from './cel-engine.ts';
import type { Value } from './expression.ts';
import { isRecord } from './record.ts';

/** Longer lists are cut: the first few show what is wrong. */
const MEMBERS_MAX = 8;

/** `"PAUSED"`, `20`, `26h30m`, `["a/strong", "b/fast"]`; a record is its key or id. */
export function valueText(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value);
  const durationMs = durationMsOf(value);
  if (durationMs !== null) return durationText(durationMs);
  if (Array.isArray(value)) {
    const shown = value.slice(0, MEMBERS_MAX).map(valueText);
    const more = value.length - shown.length;
    return `[${[...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')}]`;
  }
  if (!isRecord(value)) return plainText(value);
  const name = value['key'] ?? value['id'];
  return typeof name === 'string' ? JSON.stringify(name) : `{${Object.keys(value).join(', ')}}`;
}

function durationText(durationMs: number): string {
  const sign = durationMs < 0 ? '-' : '';
  const restMs = Math.abs(durationMs) % 1_000;
  const whole = formatDuration(Math.abs(durationMs));
  return restMs === 0 ? `${sign}${whole}` : `${sign}${whole} ${restMs}ms`;
}

function plainText(value: Value): string {
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, each]) => `${key}: ${valueText(each)}`)
      .join(', ')}}`;
  }
  return String(value);
}
