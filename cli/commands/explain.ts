/**
 * `parley explain`: what a rule of the job or scenario language or an error code means.
 * Owns the printed form; the texts are those of the two catalogues.
 */
import { ERROR_CATALOGUE, type ErrorEntry } from '../../core/error-catalogue.ts';
import { didYouMean } from '../../dsl/check/nearest-name.ts';
import type { Rule } from '../../dsl/rule.ts';
import { RULE_CATALOGUE } from '../../dsl/check/rule-catalogue.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';

export function command({ shell }: CommandContext): CliCommand {
  return new CliCommand('explain')
    .description('Explain a finding of a job or scenario file, such as JOB201, or an error code.')
    .argument('<code>', 'code as it is printed')
    .says('Exit codes: 0 explained, 2 there is no such code.')
    .examples('parley explain JOB201', 'parley explain data_directory_locked')
    .action((code: string) => {
      shell.stdout.write(`${explain(code).join('\n')}\n`);
    });
}

function explain(code: string): string[] {
  const rules: Readonly<Record<string, Rule>> = RULE_CATALOGUE;
  const errors: Readonly<Record<string, ErrorEntry>> = ERROR_CATALOGUE;
  const rule = lookUp(rules, code.toUpperCase());
  if (rule !== null) {
    return [
      `${code.toUpperCase()}: ${rule.title} (${rule.severity})`,
      rule.explanation,
      'See docs/diagnostics.md.',
    ];
  }
  const error = lookUp(errors, code.toLowerCase());
  if (error !== null) {
    const again = error.retry
      ? 'The same call may succeed later.'
      : 'The same call fails again until something changes.';
    return [`${code.toLowerCase()}: status ${error.status}`, error.when, again, 'See docs/errors.md.'];
  }
  const codes = [...Object.keys(rules), ...Object.keys(errors)];
  throw new CliError(`Cannot explain "${code}": there is no such code`, {
    remedy: didYouMean(code, codes, 'codes are in docs/diagnostics.md and docs/errors.md'),
  });
}

function lookUp<Entry>(catalogue: Readonly<Record<string, Entry>>, code: string): Entry | null {
  return Object.hasOwn(catalogue, code) ? (catalogue[code] ?? null) : null;
}
