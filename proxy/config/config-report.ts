/**
 * What is collected while a configuration is read.
 * Owns the list of problems; must not know a key.
 */
import type { ConfigProblem } from './config.ts';
import type { Environment } from './environment.ts';

export interface Reading {
  readonly env: Environment;
  readonly vendor: string;
  readonly problems: ConfigProblem[];
}

export function report(
  reading: Reading,
  severity: ConfigProblem['severity'],
  path: string,
  message: string,
): void {
  reading.problems.push({ severity, path, message });
}

/** A key that nothing reads is named, so that no setting is silently without effect. */
export function warnUnknown(reading: Reading, path: string, block: object, known: ReadonlySet<string>): void {
  for (const key of Object.keys(block)) {
    if (known.has(key)) continue;
    const message = `Cannot use "${path}.${key}": the proxy does not know this key`;
    report(reading, 'warning', `${path}.${key}`, message);
  }
}
