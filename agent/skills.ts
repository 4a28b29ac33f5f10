/**
 * Skills: texts that tell an agent how something is done here, and when each is shown to it.
 * Owns their form, reading them from folders, and which a message calls for. A skill never runs anything by itself.
 */
import { readFile, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';

import { z } from 'zod';

import { SKILL_BYTES_MAX, SKILLS_PER_FOLDER_MAX } from './limits.ts';

export const storedSkillSchema = z.object({
  name: z.string(),
  content: z.string(),
  /** Words in a message that call for it; empty means that it always holds. */
  triggers: z.array(z.string()),
  /** Says what it is for; the agent reads the file itself when it needs it. Null: its text is shown at once. */
  description: z.string().nullable(),
  /** Absolute path; null for one that came with a request. */
  source: z.string().nullable(),
});
export type Skill = z.infer<typeof storedSkillSchema>;

const headSchema = z.object({
  name: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  triggers: z.array(z.string()).catch([]),
});

/** A skill as a request gives it. */
export const requestSkillSchema = z.object({
  name: z.string(),
  content: z.string().default(''),
  description: z.string().nullish(),
  source: z.string().nullish(),
  trigger: z
    .object({ keywords: z.array(z.string()).nullish(), triggers: z.array(z.string()).nullish() })
    .nullish(),
});

export function requestSkills(skills: readonly z.infer<typeof requestSkillSchema>[]): Skill[] {
  return skills.map(({ name, content, trigger, source }) => ({
    name,
    content,
    triggers: [...(trigger?.keywords ?? []), ...(trigger?.triggers ?? [])],
    description: null,
    source: source ?? null,
  }));
}

/** Where a workspace keeps its skills: files, or folders with a SKILL.md. */
const PROJECT_FOLDERS = ['.agents/skills', '.openhands/skills', '.openhands/microagents'];

/** The skills of a workspace, its AGENTS.md first; what cannot be read is no skill. */
export async function projectSkills(folder: string): Promise<Skill[]> {
  const root = await readSkill(join(folder, 'AGENTS.md'), folder);
  const found = await Promise.all(PROJECT_FOLDERS.map((name) => skillsIn(join(folder, name), folder)));
  return [...(root === null ? [] : [{ ...root, description: null }]), ...found.flat()];
}

/** Skills of one folder, in order of their names; nothing that lies outside of `root` is followed. */
export async function skillsIn(folder: string, root: string): Promise<Skill[]> {
  const names = (await readdir(folder).catch(() => [])).sort().slice(0, SKILLS_PER_FOLDER_MAX);
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      return extname(name) === '.md'
        ? await readSkill(path, root)
        : await readSkill(join(path, 'SKILL.md'), root);
    }),
  );
  return found.filter((skill) => skill !== null);
}

async function readSkill(path: string, root: string): Promise<Skill | null> {
  const text = await readInside(path, root);
  return text === null ? null : await parseSkill(path, text);
}

/** The text of a small regular file that lies below `root` when links are followed; else null. */
export async function readInside(path: string, root: string): Promise<string | null> {
  try {
    const real = await realpath(path);
    const realRoot = await realpath(root);
    if (real !== realRoot && !real.startsWith(`${realRoot}/`)) return null;
    const found = await stat(real);
    return found.isFile() && found.size <= SKILL_BYTES_MAX ? await readFile(real, 'utf8') : null;
  } catch {
    return null;
  }
}

/** A file with a head of name, description and triggers between two lines of dashes, or without. */
export async function parseSkill(path: string, text: string): Promise<Skill> {
  const match = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?/.exec(text);
  const head = headSchema.safeParse(await yamlOf(match?.[1] ?? '')).data ?? { triggers: [] };
  const isFolder = basename(path) === 'SKILL.md';
  const fallback = isFolder ? basename(dirname(path)) : basename(path, '.md');
  return {
    name: head.name ?? fallback,
    content: match === null ? text : text.slice(match[0].length),
    triggers: head.triggers,
    description: isFolder && head.triggers.length === 0 ? (head.description ?? fallback) : null,
    source: path,
  };
}

/** Loaded when the first head is read: most servers never see one. */
async function yamlOf(text: string): Promise<unknown> {
  if (text === '') return {};
  const { parse } = await import('yaml');
  try {
    return parse(text) ?? {};
  } catch {
    return {};
  }
}

/** What the system prompt says of skills: texts that always hold, and a list of those to read when they fit. */
export function standingText(skills: readonly Skill[]): string {
  const standing = skills.filter(
    ({ triggers, description }) => triggers.length === 0 && description === null,
  );
  const offered = skills.filter(({ triggers, description }) => triggers.length === 0 && description !== null);
  const texts = standing.map(({ name, content }) => `<skill name="${name}">\n${content}\n</skill>`);
  const list = offered.map(({ name, description, source }) => `- ${name}: ${description} (${source})`);
  const offer =
    list.length === 0 ? [] : [`Read the file of a skill before you do what it is for:\n${list.join('\n')}`];
  return [...texts, ...offer].join('\n\n');
}

/** Skills that a message calls for by one of their triggers, without those that were shown before. */
export function skillsFor(message: string, skills: readonly Skill[], shown: ReadonlySet<string>): Skill[] {
  const text = message.toLowerCase();
  return skills.filter(({ name, triggers }) => {
    return !shown.has(name) && triggers.some((trigger) => text.includes(trigger.toLowerCase()));
  });
}
