/**
 * Findings in the Static Analysis Results Interchange Format, version 2.1.0, which code hosts show beside the code.
 * Owns the form; rules and words are those of the catalogue.
 */
import type { Diagnostic } from './diagnostic.ts';
import { RULE_CATALOGUE, type RuleCode } from './rule-catalogue.ts';

/** One run of the tool; only the rules that were broken are listed. */
export function sarifLog(diagnostics: readonly Diagnostic[]): object {
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
