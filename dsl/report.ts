/**
 * Collects what the passes find.
 * Owns order, duplicates and the cap; must not decide what is wrong.
 */
import type { Diagnostic } from './diagnostic.ts';
import type { Language } from './language.ts';
import { RULE_CATALOGUE, type RuleCode } from './rule-catalogue.ts';
import { indexLines, type LineIndex, type Span } from './text-position.ts';

/** More findings than this are one finding: nobody reads the fifty-first. */
export const DIAGNOSTICS_MAX = 50;

export interface FindingExtra {
  readonly remedy?: string | null;
  readonly related?: readonly { readonly span: Span; readonly message: string }[];
}

export interface Report {
  /** Adds a finding; a second one of the same code at the same place is dropped, but for missing keys. */
  add(code: RuleCode, span: Span, message: string, extra?: FindingExtra): void;
  hasErrors(): boolean;
  /** Sorted by position, at most DIAGNOSTICS_MAX. */
  diagnostics(): Diagnostic[];
  readonly text: string;
  readonly lines: LineIndex;
  /** Whose words the findings use. */
  readonly language: Language;
}

export function createReport(file: string, text: string, language: Language): Report {
  const found = new Map<string, { readonly start: number; readonly diagnostic: Diagnostic }>();
  const lines = indexLines(text);
  return {
    text,
    lines,
    language,
    add(code, span, message, extra = {}) {
      const key = `${code}@${span.start}${code === 'JOB202' ? message : ''}`;
      if (found.has(key)) return;
      found.set(key, { start: span.start, diagnostic: place(file, lines, { code, span, message, extra }) });
    },
    hasErrors: () => [...found.values()].some(({ diagnostic }) => diagnostic.severity === 'error'),
    diagnostics: () => capped([...found.values()].sort(byPosition).map(({ diagnostic }) => diagnostic)),
  };
}

interface Finding {
  readonly code: RuleCode;
  readonly span: Span;
  readonly message: string;
  readonly extra: FindingExtra;
}

function place(file: string, lines: LineIndex, { code, span, message, extra }: Finding): Diagnostic {
  const start = lines.position(span.start);
  const end = lines.position(Math.max(span.end, span.start));
  const related = extra.related?.map((other) => ({
    message: other.message,
    ...lines.position(other.span.start),
  }));
  return {
    code,
    severity: RULE_CATALOGUE[code].severity,
    message,
    file,
    line: start.line,
    column: start.column,
    endLine: end.line,
    endColumn: end.column,
    remedy: extra.remedy ?? null,
    ...(related === undefined ? {} : { related }),
  };
}

type Placed = { readonly start: number; readonly diagnostic: Diagnostic };

function byPosition(a: Placed, b: Placed): number {
  return a.start - b.start || (a.diagnostic.code < b.diagnostic.code ? -1 : 1);
}

function capped(sorted: Diagnostic[]): Diagnostic[] {
  if (sorted.length <= DIAGNOSTICS_MAX) return sorted;
  const shown = sorted.slice(0, DIAGNOSTICS_MAX - 1);
  const hidden = sorted.slice(DIAGNOSTICS_MAX - 1);
  const first = hidden[0];
  if (first === undefined) return shown;
  const severity = hidden.some((diagnostic) => diagnostic.severity === 'error') ? 'error' : 'warning';
  const { related: _related, ...where } = first;
  const message = `${hidden.length} more findings are not shown`;
  return [
    ...shown,
    { ...where, code: 'JOB120', severity, message, remedy: 'correct the findings above and check again' },
  ];
}
