/**
 * Text with a pattern, and what to say when it does not match.
 * Owns the patterns of names, durations, amounts, paths; the JSON Schema gets the same patterns.
 */
import { z } from 'zod';

import { AGENT_PRESETS } from '../../core/plan/plan-agent.ts';
import { SECRET_NAME_PATTERN, SECRET_PREFIXES_RESERVED } from '../../core/limits.ts';
import { WEBHOOK_ADDRESS } from '../../core/webhook-address.ts';
import { DURATION_PATTERN } from '../duration.ts';
import type { RuleCode } from '../check/rule-catalogue.ts';

export interface TextRule {
  readonly code: RuleCode;
  readonly pattern: RegExp;
  /** Completes `"x" is not …`. */
  readonly what: string;
  readonly remedy: string;
  /** Text with `${{` is checked after interpolation only. */
  readonly interpolates?: boolean;
}

/** Without a code, the finding is that a name is not one. */
export const rule = (fields: Omit<TextRule, 'code'> & Partial<TextRule>): TextRule => ({
  code: 'JOB208',
  ...fields,
});

export const JOB_NAME = rule({
  pattern: /^[a-z0-9][a-z0-9-]{0,62}$/,
  what: 'a name of a job',
  remedy: 'use 1 to 63 lower-case letters, digits and hyphens, starting with a letter or digit',
});
export const ENTRY_ID = rule({
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
  what: 'an id of a conversation',
  remedy: 'use 1 to 63 letters, digits, dots, underscores and hyphens, starting with a letter or digit',
});
export const AXIS_NAME = rule({
  pattern: /^(?!(?:exclude|include|extend|axes|when)$)[A-Za-z][A-Za-z0-9_]{0,30}$/,
  what: 'a name of an axis',
  remedy:
    'use a letter, then letters, digits and underscores; "exclude", "include" and "extend" stand beside "matrix", not in it',
});
/** An axis, or the condition of an entry of `exclude`. */
export const EXCLUDED_NAME = rule({
  ...AXIS_NAME,
  pattern: /^(?!(?:exclude|include|extend|axes)$)[A-Za-z][A-Za-z0-9_]{0,30}$/,
});
/** What can stand behind `item.`. */
export const COLUMN = rule({
  pattern: /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]{0,62}$/,
  what: 'a name of a field',
  remedy: 'use a letter, then letters, digits and underscores',
});
export const INPUT_NAME = rule({
  pattern: /^[A-Za-z][A-Za-z0-9_]{0,62}$/,
  what: 'a name of an input',
  remedy: 'use a letter, then letters, digits and underscores',
});
/** What a job may hold for one conversation: -1000 to 1000, checked again when an interpolation is filled. */
export const PRIORITY = rule({
  code: 'JOB205',
  pattern: /^(?:0|-?[1-9]\d{0,2}|-?1000)$/,
  what: 'a priority',
  remedy: 'write a whole number from -1000 to 1000, or an interpolation that gives one',
  interpolates: true,
});
/** One line; only the job gives it a meaning. */
export const AFFINITY = rule({
  // eslint-disable-next-line no-control-regex -- control characters are what must not be there
  pattern: /^[^\x00-\x1f\x7f]{0,200}$/,
  what: 'an affinity',
  remedy: 'write one line of at most 200 characters, or an interpolation that gives one',
  interpolates: true,
});
export const AUTHOR_NAME = rule({
  pattern: /^(?=.*\S)[^<>\p{Cc}]{1,100}$/u,
  what: 'a name of an author',
  remedy: 'write a name without < and >',
});
export const EMAIL = rule({
  pattern: /^[^\s@<>\p{Cc}]{1,64}@[^\s@<>\p{Cc}]{1,190}$/u,
  what: 'an e-mail address',
  remedy: 'write an address such as bot@example.org',
});
export const PLUGIN_SOURCE = rule({
  code: 'JOB214',
  pattern: /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[A-Za-z0-9._-]{1,100}(?:\/[A-Za-z0-9._-]{1,100}){1,8}$/,
  what: 'a plugin',
  remedy: 'write the repository that holds the plugin as owner/name',
});
export const LABEL_NAME = rule({
  pattern: /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/,
  what: 'a name of a label',
  remedy: 'use 1 to 63 letters, digits and . _ / -, starting with a letter or digit',
});
export const MODEL = rule({
  pattern: /^[^\s\p{Cc}]{1,200}$/u,
  what: 'a name of a model',
  remedy: 'write the name as the proxy lists it, without blank space',
  interpolates: true,
});
export const AGENT = rule({
  pattern: /^[a-z0-9][a-z0-9._-]{0,62}$/,
  what: 'a name of an agent',
  remedy: `write ${AGENT_PRESETS.join(', ')}, or a name of your own with a "command"`,
  interpolates: true,
});
/** A word of the agent's own vocabulary, of which there is no list here. */
export const AGENT_WORD = rule({
  pattern: /^[^\s\p{Cc}]{1,100}$/u,
  what: 'a word of an agent',
  remedy: 'write the word as the agent tells it, without blank space',
});
export const HOST = rule({
  pattern: /^[a-z0-9][a-z0-9_-]{0,62}$/,
  what: 'a provider of "code_hosts"',
  remedy: 'write the provider key of the deployment, such as github; addresses never stand in a job',
});
export const REPOSITORY = rule({
  code: 'JOB214',
  pattern: /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[A-Za-z0-9._-]{1,100}(?:\/[A-Za-z0-9._-]{1,100}){1,8}$/,
  what: 'a repository',
  remedy: 'write owner/name; where the host is comes from the deployment',
  interpolates: true,
});
export const BRANCH = rule({
  code: 'JOB214',
  pattern: /^(?![-/])(?!.*(?:\.\.|\/\/|@\{))[^\s~^:?*[\\]{0,199}[^\s~^:?*[\\./]$/,
  what: 'a name of a Git branch',
  remedy: 'leave out blank space, "..", and the characters ~ ^ : ? * [ \\',
  interpolates: true,
});
/** As BRANCH, with placeholders; without the key, conversations of one repository would want one branch. */
export const DELIVER_BRANCH = rule({
  code: 'JOB214',
  pattern:
    /^(?![-/])(?=.*\{key\})(?!.*(?:\.\.|\/\/|\/\.|\.lock(?:\/|$)|@\{))(?:\{(?:job|run|key)\}|[^\s~^:?*[\\{}]){1,200}(?<![./])$/,
  what: 'a name of a branch with {key} in it',
  remedy: 'write a name such as parley/{run}/{key}; {job}, {run} and {key} stand for what they say',
});
export const SECRET_NAME = rule({
  code: 'JOB216',
  pattern: SECRET_NAME_PATTERN,
  what: 'a name of a secret',
  remedy: 'use letters, digits and underscores, not starting with a digit',
});
/** Names that the sandbox and the agent set themselves (D20), whatever their case. */
const RESERVED_NAMES = [
  'OPENVSCODE_SERVER_ROOT',
  'LOG_JSON',
  'PYTHONUNBUFFERED',
  'ENV_LOG_LEVEL',
  'WORKER_1',
  'WORKER_2',
];

/** JSON Schema patterns have no flag for case. */
function inAnyCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`);
}

export const ENVIRONMENT_NAME = rule({
  code: 'JOB216',
  pattern: new RegExp(
    `^(?!(?:${SECRET_PREFIXES_RESERVED.map(inAnyCase).join('|')}))(?!(?:${RESERVED_NAMES.map(inAnyCase).join('|')})$)[A-Za-z_][A-Za-z0-9_]*$`,
  ),
  what: 'a permitted name of an environment variable',
  remedy:
    'use letters, digits and underscores, not starting with a digit; LLM_*, OH_*, PARLEY_* and the variables of the sandbox are reserved (D20)',
});
export const TAG_KEY = rule({
  code: 'JOB212',
  pattern: /^[a-z0-9]+$/,
  what: 'a tag key',
  remedy: 'use lower-case letters and digits only',
});
export const SCORE_NAME = rule({
  pattern: /^[A-Za-z][A-Za-z0-9_-]{0,62}$/,
  what: 'a name of a score',
  remedy: 'use 1 to 63 letters, digits, underscores and hyphens, starting with a letter',
});
export const NUMBER = rule({
  code: 'JOB205',
  pattern: /^-?\d{1,15}(?:\.\d{1,9})?$/,
  what: 'a plain number',
  remedy: 'write digits with at most nine after the point, such as 80 or 0.95',
});
export const DURATION = rule({
  code: 'JOB206',
  pattern: DURATION_PATTERN,
  what: 'a duration',
  remedy: 'write a number and a unit, such as 90s, 45m, 11h30m or 2d',
});
/** Whole after the suffix is applied: three decimals of a thousand, six of a million. */
export const TOKENS = rule({
  code: 'SCN205',
  pattern: /^(?:\d{1,9}|\d{1,6}(?:\.\d{1,3})?k|\d{1,3}(?:\.\d{1,6})?M)$/,
  what: 'a count of tokens',
  remedy: 'write a whole number, or thousands and millions such as 180k or 1.2M',
});
export const INSTANT = rule({
  code: 'SCN206',
  pattern:
    /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?Z$/,
  what: 'an instant',
  remedy: 'write it in UTC, such as 2026-01-01T00:00:00Z',
});
/** Six digits before the point: nano-USD of more would not be exact in a number. */
export const AMOUNT = rule({
  code: 'JOB207',
  pattern: /^\d{1,6}(?:\.\d{1,9})?$/,
  what: 'an amount of USD',
  remedy: 'write a plain decimal number up to 999999.999999999, such as 2.50',
});
export const POSITIVE_AMOUNT = rule({
  ...AMOUNT,
  pattern: /^(?=.*[1-9])\d{1,6}(?:\.\d{1,9})?$/,
  what: 'an amount of USD above 0',
});
export const LOCAL_PATH = rule({
  code: 'JOB213',
  pattern: /^(?![/~])(?![A-Za-z]:)[^\\\p{Cc}]{1,500}$/u,
  what: 'a relative path',
  remedy: 'write a path relative to the job file, with forward slashes',
});
export const SECRET_PATH = rule({
  code: 'JOB213',
  pattern: /^[^\p{Cc}]{1,500}$/u,
  what: 'a path',
  remedy: 'write the path of the file that holds the secret',
});
export const GLOB = rule({
  code: 'JOB213',
  pattern: /^(?![/~!])(?![A-Za-z]:)(?!(?:.*\/)?\.\.(?:\/|$))[^\\\p{Cc}]{1,500}$/u,
  what: 'a pattern inside the workspace',
  remedy: 'write a relative pattern without "..", such as reports/**/*.md',
});
/** A `..` comes first or not at all: behind a pattern it is unclear which folder it leaves. */
export const FILE_GLOB = rule({
  code: 'JOB213',
  pattern: /^(?![/~!])(?![A-Za-z]:)(?:\.\.\/){0,20}(?!(?:.*\/)?\.\.(?:\/|$))[^\\\p{Cc}]{1,500}$/u,
  what: 'a relative pattern of files',
  remedy: 'write a pattern relative to the job file, with forward slashes, such as prompts/*.md',
});
export const REPORT_FILE = rule({
  code: 'JOB213',
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.(?:md|html|jsonl|xml)$/,
  what: 'a file name of a report',
  remedy: 'write a plain name that ends in .md, .html, .jsonl or .xml; the folder is that of the run',
});
export const WEBHOOK = rule({
  pattern: WEBHOOK_ADDRESS,
  what: 'an address of a webhook',
  remedy:
    'write https://, without a user name; http:// only for localhost. An address that nobody may read is {secret: NAME}',
});
export const SANDBOX_ID = rule({
  pattern: /^(?:[0-9A-Fa-f]{32}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$/,
  what: 'an id of a sandbox',
  remedy: 'write the 32 hex digits of the sandbox, with or without hyphens (D3)',
});

/** How an interpolation opens; text that has one is checked again when it is filled. */
export const INTERPOLATION_MARK = '${{';

/** Whether the text may stand, at least until it is interpolated. */
export function passes(textRule: TextRule, text: string): boolean {
  return (textRule.interpolates === true && text.includes(INTERPOLATION_MARK)) || textRule.pattern.test(text);
}

/** The pattern as the JSON Schema has it. */
export function schemaPattern({ pattern: { source }, interpolates }: TextRule): string {
  return interpolates === true ? `\\$\\{\\{|${source}` : source;
}

/** A schema of text that follows the rule; a violation is a custom issue that carries it. */
export function text(textRule: TextRule, description?: string): z.ZodString {
  const pattern = schemaPattern(textRule);
  return z
    .string()
    .refine((value) => passes(textRule, value), { params: { rule: textRule } })
    .meta({ pattern, ...(description === undefined ? {} : { description }) });
}
