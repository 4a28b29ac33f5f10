/**
 * The block `router_settings`, and what it says about one failed call (D22).
 * Owns which failures a further try may help; must not wait or send.
 */
import { report, warnUnknown, type Reading } from '../config/config-report.ts';
import type { RetryRule } from '../config/config.ts';
import { resolveEnvironment } from '../config/environment.ts';
import { asObject } from './json-value.ts';
import { RETRIES_MAX, RETRY_PAUSE_MS, RETRY_PAUSE_MS_MAX } from '../limits.ts';

const PATH = 'proxy_config.router_settings';
const KEYS = new Set(['num_retries', 'fallbacks']);

/** `names` are those of the model list: a fallback to another one would never be taken. */
export function readRetryRule(reading: Reading, raw: unknown, names: ReadonlySet<string>): RetryRule {
  const owner = 'the router settings';
  const settings = asObject(resolveEnvironment(raw ?? {}, { ...reading, path: PATH, owner }));
  if (settings === null)
    report(reading, 'error', PATH, 'Cannot load the router settings: they must be an object');
  warnUnknown(reading, PATH, settings ?? {}, KEYS);
  return {
    retriesMax: readRetries(reading, settings?.['num_retries']),
    fallbacks: readFallbacks(reading, settings?.['fallbacks'], names),
  };
}

function readRetries(reading: Reading, value: unknown): number {
  if (value === undefined) return 0;
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= RETRIES_MAX)
    return count;
  const message = `Cannot load num_retries: it must be a whole number from 0 to ${RETRIES_MAX}`;
  report(reading, 'error', `${PATH}.num_retries`, message);
  return 0;
}

/** A list of objects of one name to a list of names: `[{coder: [spare]}]`. */
function readFallbacks(
  reading: Reading,
  value: unknown,
  names: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const fallbacks = new Map<string, readonly string[]>();
  const path = `${PATH}.fallbacks`;
  const list = value === undefined ? [] : value;
  if (!Array.isArray(list)) {
    report(reading, 'error', path, 'Cannot load fallbacks: they must be a list of objects');
    return fallbacks;
  }
  for (const [name, others] of list.flatMap((item) => Object.entries(asObject(item) ?? { '': null }))) {
    if (!Array.isArray(others) || !others.every((other) => typeof other === 'string')) {
      const message = `Cannot load fallbacks: "${name}" needs a list of model names`;
      report(reading, 'error', path, message);
      continue;
    }
    for (const unknown of [name, ...others].filter((one) => !names.has(one))) {
      report(reading, 'error', path, `Cannot load fallbacks: there is no model entry "${unknown}"`);
    }
    fallbacks.set(name, others);
  }
  return fallbacks;
}

/** null: no answer came, because the gateway was unreachable, too slow or hung up. */
export function mayHelp(status: number | null): boolean {
  return status === null || status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Milliseconds to wait before try number `tries` + 1; null when the gateway asks for a longer pause than is waited. */
export function pauseBefore(tries: number, askedMs: number | null): number | null {
  if (askedMs !== null) return askedMs <= RETRY_PAUSE_MS_MAX ? askedMs : null;
  return Math.min(RETRY_PAUSE_MS * 2 ** (tries - 1), RETRY_PAUSE_MS_MAX);
}
