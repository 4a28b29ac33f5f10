/**
 * `os.environ/NAME` references in configuration (D25).
 * Owns their resolution in a whole tree; must not read the process's environment itself.
 */
import type { ConfigProblem } from './config.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /^os\.environ\/(.*)$/s;

export interface Resolution {
  readonly env: Environment;
  /** Path of `value` in the configuration. */
  readonly path: string;
  /** What the problem calls the place, e.g. `model entry "coder"`. */
  readonly owner: string;
  readonly problems: ConfigProblem[];
}

/** The same tree with every reference replaced. An unset variable becomes a problem and an empty text. */
export function resolveEnvironment(value: unknown, at: Resolution): unknown {
  if (typeof value === 'string') return resolveText(value, at);
  if (Array.isArray(value)) {
    return value.map((item: unknown, i) => resolveEnvironment(item, { ...at, path: `${at.path}[${i}]` }));
  }
  if (typeof value !== 'object' || value === null) return value;
  const resolved: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    resolved[key] = resolveEnvironment(item, { ...at, path: `${at.path}.${key}` });
  }
  return resolved;
}

function resolveText(text: string, at: Resolution): string {
  const name = REFERENCE.exec(text)?.[1];
  if (name === undefined) return text;
  const value = at.env[name];
  if (value !== undefined && value !== '') return value;
  at.problems.push({
    severity: 'error',
    path: at.path,
    message: `Cannot load ${at.owner}: environment variable "${name}" is not set`,
  });
  return '';
}
