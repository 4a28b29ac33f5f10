/**
 * Skills and hooks that a workspace brings, read where they are.
 * Owns where they are looked for and their form on the wire; what an agent makes of them is the agent's.
 */
import { z } from 'zod';
import type { World } from '../../activities/world.ts';
import type { Workspace } from './workspace.ts';

const SKILLS_MAX = 100;
const LIST_TIMEOUT_MS = 30_000;

export const skillSchema = z.object({
  name: z.string(),
  type: z.enum(['repo', 'knowledge', 'agentskills']),
  content: z.string(),
  triggers: z.array(z.string()),
});
type Skill = z.output<typeof skillSchema>;

const LIST_SKILLS = [
  'for f in AGENTS.md .openhands/microagents/*.md .openhands/skills/*.md .openhands/skills/*/SKILL.md .agents/skills/*/SKILL.md; do',
  '  [ -f "$f" ] && [ ! -L "$f" ] && printf "%s\\n" "$f"',
  'done; true',
].join('\n');

export async function skillsOf(world: World, { target, workingDir }: Workspace): Promise<Skill[]> {
  const listed = await world.agent.execute(target, {
    command: LIST_SKILLS,
    workingDir,
    timeoutMs: LIST_TIMEOUT_MS,
  });
  const paths = listed.stdout.split('\n').filter((path) => path !== '');
  const skills: Skill[] = [];
  for (const path of paths.slice(0, SKILLS_MAX)) {
    const content = await world.agent.readFile(target, `${workingDir}/${path}`);
    if (content !== null) skills.push(skillOf(path, new TextDecoder().decode(content)));
  }
  return skills;
}

function skillOf(path: string, content: string): Skill {
  const head = /^---\n([\s\S]*?)\n---/.exec(content)?.[1] ?? '';
  const triggers = listUnder(head, 'triggers');
  const isFolder = path.endsWith('/SKILL.md');
  const ownName = /^name:\s*['"]?([^'"\n]+?)['"]?\s*$/m.exec(head)?.[1];
  const name = ownName ?? (isFolder ? path.split('/').at(-2) : path.split('/').at(-1)?.replace(/\.md$/, ''));
  const type = isFolder ? 'agentskills' : triggers.length > 0 ? 'knowledge' : 'repo';
  return { name: name ?? path, type, content, triggers };
}

/** Entries of a list in a skill's head: `key:` and lines that begin with a dash. */
function listUnder(head: string, key: string): string[] {
  const lines = head.split('\n');
  const start = lines.findIndex((line) => line.trimEnd() === `${key}:`);
  if (start === -1) return [];
  const entries: string[] = [];
  for (const line of lines.slice(start + 1)) {
    const entry = /^\s*-\s+['"]?(.+?)['"]?\s*$/.exec(line)?.[1];
    if (entry === undefined) break;
    entries.push(entry);
  }
  return entries;
}

const EVENT_TYPES = [
  'pre_tool_use',
  'post_tool_use',
  'user_prompt_submit',
  'session_start',
  'session_end',
  'stop',
] as const;

const commandSchema = z.object({
  type: z.enum(['command', 'prompt']).default('command'),
  command: z.string().default(''),
  timeout: z.number().default(60),
  async: z.boolean().default(false),
});
const matcherSchema = z.object({
  matcher: z.string().default('*'),
  hooks: z.array(commandSchema).default([]),
});

export const hookSchema = z.object({
  event_type: z.enum(EVENT_TYPES),
  matchers: z.array(matcherSchema),
});
type Hook = z.output<typeof hookSchema>;

const HOOKS_FILE = '.openhands/hooks.json';

/** A file that cannot be read as hooks configures none. */
export async function hooksOf(world: World, { target, workingDir }: Workspace): Promise<Hook[]> {
  const content = await world.agent.readFile(target, `${workingDir}/${HOOKS_FILE}`);
  if (content === null) return [];
  const document = jsonOf(new TextDecoder().decode(content));
  return EVENT_TYPES.flatMap((eventType) => {
    const matchers = z.array(matcherSchema).safeParse(document[eventType] ?? document[pascal(eventType)]);
    if (!matchers.success || matchers.data.length === 0) return [];
    return [{ event_type: eventType, matchers: matchers.data }];
  });
}

/** `PreToolUse` for `pre_tool_use`: files spell it either way. */
function pascal(word: string): string {
  return word.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return {};
    const { hooks } = value as { readonly hooks?: unknown };
    return (typeof hooks === 'object' && hooks !== null ? hooks : value) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
