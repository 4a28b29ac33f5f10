/**
 * docs/diagnostics.md: the rule catalogue with an example of each, taken from the golden files.
 * Owns the page's layout; the words are the catalogue's.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { RULE_CATALOGUE, type RuleCode } from '../../dsl/check/rule-catalogue.ts';
import { SCENARIO_FOLDER } from './scenario-world.ts';
import { GOLDEN_FOLDER } from './test-world.ts';

const INTRODUCTION = `# Diagnostics of job and scenario files

Every finding has a stable code, a place, a message and, where there is one, a way out.
Errors refuse the file; warnings do not change the plan.
Rules with \`JOB\` hold in jobs, and in scenarios where they make sense there; rules with \`SCN\` are those of scenarios.
Findings are sorted by place, one for each root cause, at most fifty.
Where the value of a secret stands in a file it is masked: by its place, and by the prefixes that issuers give their tokens.

A finding is printed as \`file:line:column: severity code: message\`, the line with the place underlined, and lines that start with \`=\` for what to do.
Lines and columns count from 1; columns count characters.
The other formats are \`json\`, \`jsonl\` and \`github\` (annotations of a workflow run).

This page is generated from the rule catalogue and the golden files: \`UPDATE_GOLDEN=1 npx vitest run test/dsl\`.
`;

const GROUPS: Readonly<Record<string, string>> = {
  JOB1: 'Text and YAML',
  JOB2: 'Schema',
  JOB3: 'References',
  JOB4: 'Interpolation',
  JOB5: 'Lint',
  SCN2: 'Schema of scenarios',
  SCN3: 'References of scenarios',
  SCN4: 'Expressions of scenarios',
  SCN5: 'Lint of scenarios',
};

/** Findings of the golden files, one text each. */
export function goldenFindings(): string[] {
  return [GOLDEN_FOLDER, SCENARIO_FOLDER].flatMap((golden) => {
    const folder = path.join(golden, 'err');
    const outputs = readdirSync(folder).filter((file) => file.endsWith('.out'));
    return outputs.flatMap((file) =>
      readFileSync(path.join(folder, file), 'utf8')
        .trimEnd()
        .split(/\n(?=\S+\.yaml:\d+:\d+: )/),
    );
  });
}

export function renderDiagnosticsPage(): string {
  const findings = goldenFindings();
  const parts = [INTRODUCTION];
  let group = '';
  for (const code of Object.keys(RULE_CATALOGUE) as RuleCode[]) {
    if (code.slice(0, 4) !== group) {
      group = code.slice(0, 4);
      parts.push(`## ${GROUPS[group]}\n`);
    }
    parts.push(
      renderRule(
        code,
        findings.find((finding) => finding.includes(` ${code}: `)),
      ),
    );
  }
  return parts.join('\n');
}

function renderRule(code: RuleCode, example: string | undefined): string {
  const { title, severity, explanation } = RULE_CATALOGUE[code];
  const sentences = explanation.replace(/(?<=[a-z0-9)"])\. (?=[A-Z])/g, '.\n');
  const block = example === undefined ? '' : `\n\`\`\`text\n${example}\n\`\`\`\n`;
  return `### ${code} ${title}\n\nSeverity: ${severity}.\n${sentences}\n${block}`;
}
