/**
 * Findings as text for people, programs and GitHub.
 * Owns the formats; must not sort, filter or reword.
 */
import { withoutMark } from '../read/decode-source.ts';
import type { Diagnostic } from './diagnostic.ts';
import { createExcerpts, type Excerpts } from '../read/excerpt.ts';
import { RULE_CATALOGUE, type RuleCode } from './rule-catalogue.ts';

/** What `--format` takes where findings are printed. */
export const DIAGNOSTIC_FORMATS = ['pretty', 'json', 'jsonl', 'sarif', 'github'] as const;
/** One of DIAGNOSTIC_FORMATS. */
export type DiagnosticFormat = (typeof DIAGNOSTIC_FORMATS)[number];

/** Ends with a line break unless there is nothing to say; `json` is always an array, `sarif` always a log. `sources` is the file of the findings, or each file by its path. */
export function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  sources: string | ReadonlyMap<string, string>,
  { format }: { readonly format: DiagnosticFormat },
): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(diagnostics, null, 2)}\n`;
    case 'jsonl':
      return diagnostics.map((diagnostic) => `${JSON.stringify(diagnostic)}\n`).join('');
    case 'sarif':
      return `${JSON.stringify(sarifLog(diagnostics), null, 2)}\n`;
    case 'github':
      return diagnostics.map((diagnostic) => `${githubLine(diagnostic)}\n`).join('');
    case 'pretty': {
      const excerptsOf = excerptsByFile(diagnostics, sources);
      return diagnostics
        .map((diagnostic) => `${prettyBlock(diagnostic, excerptsOf(diagnostic.file))}\n`)
        .join('');
    }
  }
}

function excerptsByFile(
  diagnostics: readonly Diagnostic[],
  sources: string | ReadonlyMap<string, string>,
): (file: string) => Excerpts {
  const known = new Map<string, Excerpts>();
  return (file) => {
    const before = known.get(file);
    if (before !== undefined) return before;
    const text = typeof sources === 'string' ? sources : (sources.get(file) ?? '');
    const excerpts = createExcerpts(
      withoutMark(text),
      diagnostics.filter((diagnostic) => diagnostic.file === file),
    );
    known.set(file, excerpts);
    return excerpts;
  };
}

function prettyBlock(diagnostic: Diagnostic, excerpts: Excerpts): string {
  const { file, line, column, severity, code, message, remedy, related } = diagnostic;
  const notes = (related ?? []).map(
    (place) => `      = ${place.message}: ${place.file ?? file}:${place.line}:${place.column}`,
  );
  return [
    `${file}:${line}:${column}: ${severity} ${code}: ${message}`,
    ...excerpts.draw(diagnostic),
    ...notes,
    ...(remedy === null ? [] : [`      = ${remedy}`]),
  ].join('\n');
}

function githubLine(diagnostic: Diagnostic): string {
  const { severity, code, message, remedy } = diagnostic;
  const properties = {
    file: diagnostic.file,
    line: diagnostic.line,
    endLine: diagnostic.endLine,
    col: diagnostic.column,
    endColumn: diagnostic.endColumn,
    title: code,
  };
  const list = Object.entries(properties).map(([name, value]) => `${name}=${githubProperty(String(value))}`);
  return `::${severity} ${list.join(',')}::${githubText(remedy === null ? message : `${message}: ${remedy}`)}`;
}

function githubText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function githubProperty(text: string): string {
  return githubText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** One run of the tool; only the rules that were broken are listed. */
function sarifLog(diagnostics: readonly Diagnostic[]): object {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  return {
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'parley', rules: codes.map(ruleOf) } },
        columnKind: 'unicodeCodePoints',
        results: diagnostics.map((diagnostic) => resultOf(diagnostic, codes.indexOf(diagnostic.code))),
      },
    ],
  };
}

function ruleOf(code: RuleCode): object {
  const { severity, title, explanation } = RULE_CATALOGUE[code];
  return {
    id: code,
    shortDescription: { text: title },
    fullDescription: { text: explanation },
    defaultConfiguration: { level: severity },
  };
}

function resultOf(diagnostic: Diagnostic, ruleIndex: number): object {
  const { code, severity, message, remedy, related, file } = diagnostic;
  const relatedLocations = related?.map((place, id) => ({
    id,
    message: { text: place.message },
    ...locationOf(place.file ?? file, { startLine: place.line, startColumn: place.column }),
  }));
  const { line: startLine, column: startColumn, endLine, endColumn } = diagnostic;
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: { text: remedy === null ? message : `${message}: ${remedy}` },
    locations: [locationOf(file, { startLine, startColumn, endLine, endColumn })],
    ...(relatedLocations === undefined ? {} : { relatedLocations }),
  };
}

/** An address of a file holds no blank space and no marks of its own. */
function locationOf(file: string, region: Readonly<Record<string, number>>): object {
  const uri = file.split(/[\\/]/).map(encodeURIComponent).join('/');
  return { physicalLocation: { artifactLocation: { uri }, region } };
}
