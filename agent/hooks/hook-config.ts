/**
 * Hooks: commands that are run around an agent's steps and may forbid them.
 * Owns the shape in its two spellings, and which hooks an event calls for. Pure.
 */
import { z } from 'zod';

export const HOOK_EVENTS = [
  'pre_tool_use',
  'post_tool_use',
  'user_prompt_submit',
  'session_start',
  'session_end',
  'stop',
] as const;
export type HookEventName = (typeof HOOK_EVENTS)[number];

const hookSchema = z.object({
  /** Only commands are run; a hook of another type is passed over. */
  type: z.string().default('command'),
  command: z.string().default(''),
  /** Seconds. */
  timeout: z.number().positive().max(3_600).default(60),
  async: z.boolean().default(false),
});
const matcherSchema = z.object({
  /** A name, a regular expression over the whole name of a tool, or `*`. */
  matcher: z
    .string()
    .nullish()
    .transform((matcher) => (matcher === null || matcher === undefined || matcher === '' ? '*' : matcher)),
  hooks: z.array(hookSchema).max(50).default([]),
});
const matchersSchema = z.array(matcherSchema).max(50).default([]);

const closedSchema = z.object({
  pre_tool_use: matchersSchema,
  post_tool_use: matchersSchema,
  user_prompt_submit: matchersSchema,
  session_start: matchersSchema,
  session_end: matchersSchema,
  stop: matchersSchema,
});
export type HookConfig = z.infer<typeof closedSchema>;
export type Hook = z.infer<typeof hookSchema>;

/** `pre_tool_use` or `PreToolUse`, at the top or below `hooks`. */
export const hookConfigSchema = z.preprocess((value) => {
  if (typeof value !== 'object' || value === null) return value;
  const inner = 'hooks' in value && typeof value.hooks === 'object' ? value.hooks : value;
  const entries = Object.entries(inner ?? {}).map(([name, matchers]) => [snakeCase(name), matchers] as const);
  return Object.fromEntries(entries);
}, closedSchema);

function snakeCase(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
}

/** The word of the wire: `PreToolUse`. */
export function hookWord(event: HookEventName): string {
  return event.replace(/(^|_)([a-z])/g, (_all, _gap, letter: string) => letter.toUpperCase());
}

/** Hooks of an event, for a tool where there is one, in the order in which they stand. */
export function hooksFor(config: HookConfig | null, event: HookEventName, toolName: string | null): Hook[] {
  const matchers = config?.[event] ?? [];
  return matchers
    .filter(({ matcher }) => toolName === null || matches(matcher, toolName))
    .flatMap(({ hooks }) => hooks.filter(({ type, command }) => type === 'command' && command !== ''));
}

function matches(matcher: string, toolName: string): boolean {
  return matcher === '*' || matcher === toolName || patternOf(matcher)?.test(toolName) === true;
}

/** Whether a matcher can match anything: a pattern that is none never does. */
export function isMatcher(matcher: string): boolean {
  return matcher === '*' || patternOf(matcher) !== null;
}

/** Written plainly or between slashes. */
function patternOf(matcher: string): RegExp | null {
  const inner = /^\/(.+)\/$/.exec(matcher)?.[1] ?? matcher;
  try {
    return new RegExp(`^(?:${inner})$`);
  } catch {
    return null;
  }
}

/** One configuration of several, in order; null when there is none. */
export function mergeHooks(configs: readonly (HookConfig | null)[]): HookConfig | null {
  const given = configs.filter((config) => config !== null);
  if (given.length === 0) return null;
  const merged = HOOK_EVENTS.map((event) => [event, given.flatMap((config) => config[event])] as const);
  return Object.fromEntries(merged) as HookConfig;
}
