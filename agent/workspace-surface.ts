/**
 * What a repository brings for agents that work in it: its AGENTS.md, its skills and its hooks.
 * Owns where they lie and which of two of one name counts; the same reading serves a new conversation and the routes that
 * list them (D37). What cannot be read is a sentence, and the rest is there all the same.
 */
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

import { HOOK_EVENTS, hookConfigSchema, isMatcher, mergeHooks } from './hooks/hook-config.ts';
import type { HookConfig } from './hooks/hook-config.ts';
import { WORKSPACE_SKILLS_BYTES_MAX } from './limits.ts';
import { jsonOrNull } from './model/llm-response.ts';
import { FileFinding, readInside, skillsIn, type SkillsRead } from './skill-file.ts';
import type { Skill } from './skills.ts';

/** Files, or folders with a SKILL.md; of two skills of one name that of the first folder counts. */
const SKILL_FOLDERS = ['.agents/skills', '.openhands/skills', '.openhands/microagents'];
const HOOKS_FILE = '.openhands/hooks.json';

interface HooksRead {
  readonly hooks: HookConfig | null;
  /** What is not run, and why: one sentence each. */
  readonly findings: readonly string[];
}

/** The skills of a workspace, its AGENTS.md first. */
export async function workspaceSkills(folder: string): Promise<SkillsRead> {
  const root = await readRules(folder);
  const read = [
    root,
    ...(await Promise.all(SKILL_FOLDERS.map((name) => skillsIn(join(folder, name), folder)))),
  ];
  const findings = read.flatMap((each) => each.findings);
  const kept = new Map<string, Skill>();
  let bytes = 0;
  for (const skill of read.flatMap((each) => each.skills)) {
    const path = relative(folder, skill.source ?? folder);
    const other = kept.get(skill.name);
    const size = Buffer.byteLength(skill.content);
    if (other !== undefined)
      findings.push(
        `"${path}" is not used as a skill: "${relative(folder, other.source ?? folder)}" has its name`,
      );
    else if (bytes + size > WORKSPACE_SKILLS_BYTES_MAX)
      findings.push(
        `"${path}" is not used as a skill: together they have more than ${WORKSPACE_SKILLS_BYTES_MAX} bytes`,
      );
    else {
      kept.set(skill.name, skill);
      bytes += size;
    }
  }
  return { skills: [...kept.values()], findings };
}

/** It has no head: all of its text is for the agent. */
async function readRules(folder: string): Promise<SkillsRead> {
  const name = (await readdir(folder).catch(() => [])).sort().find((each) => /^agents\.md$/i.test(each));
  if (name === undefined) return { skills: [], findings: [] };
  try {
    const content = await readInside(join(folder, name), folder);
    if (content === null) return { skills: [], findings: [] };
    const rules = { name: 'AGENTS', content, triggers: [], description: null, source: join(folder, name) };
    return { skills: [rules], findings: [] };
  } catch (error) {
    if (!(error instanceof FileFinding)) throw error;
    return { skills: [], findings: [`"${name}" is not told to the agent: ${error.message}`] };
  }
}

/** The hooks of a workspace; null where it has none that could be run. */
export async function workspaceHooks(folder: string): Promise<HooksRead> {
  try {
    const text = await readInside(join(folder, HOOKS_FILE), folder);
    return text === null ? { hooks: null, findings: [] } : readHooks(text);
  } catch (error) {
    if (!(error instanceof FileFinding)) throw error;
    return { hooks: null, findings: [`No hook of "${HOOKS_FILE}" is run: ${error.message}`] };
  }
}

/** @throws FileFinding it is no hook configuration */
function readHooks(text: string): HooksRead {
  const value = jsonOrNull(text);
  if (typeof value !== 'object' || value === null) throw new FileFinding('it is no JSON object');
  const parsed = hookConfigSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new FileFinding(`"${issue?.path.join('.') ?? ''}" is not valid: ${issue?.message ?? ''}`);
  }
  const findings = unknownEvents(value).map(
    (name) => `"${HOOKS_FILE}" has hooks for "${name}", which never comes`,
  );
  for (const event of HOOK_EVENTS)
    for (const { matcher, hooks } of parsed.data[event]) {
      if (!isMatcher(matcher))
        findings.push(`"${HOOKS_FILE}" has a matcher "${matcher}" that is no pattern: its hooks are not run`);
      for (const { type, command } of hooks) {
        if (type !== 'command')
          findings.push(`"${HOOKS_FILE}" has a hook of the type "${type}", which is not run`);
        else if (command.trim() === '') findings.push(`"${HOOKS_FILE}" has a hook without a command`);
      }
    }
  return { hooks: mergeHooks([runnable(parsed.data)]), findings };
}

function unknownEvents(value: object): string[] {
  const inner =
    'hooks' in value && typeof value.hooks === 'object' && value.hooks !== null ? value.hooks : value;
  const known = new Set(HOOK_EVENTS.map((event) => event.replaceAll('_', '')));
  return Object.keys(inner).filter(
    (name) =>
      Array.isArray((inner as Readonly<Record<string, unknown>>)[name]) &&
      !known.has(name.replaceAll('_', '').toLowerCase()),
  );
}

/** Nothing is listed that is not run. */
function runnable(config: HookConfig): HookConfig {
  const events = HOOK_EVENTS.map((event) => {
    const matchers = config[event]
      .filter(({ matcher }) => isMatcher(matcher))
      .map(({ matcher, hooks }) => ({
        matcher,
        hooks: hooks.filter(({ type, command }) => type === 'command' && command.trim() !== ''),
      }))
      .filter(({ hooks }) => hooks.length > 0);
    return [event, matchers] as const;
  });
  return Object.fromEntries(events) as HookConfig;
}
