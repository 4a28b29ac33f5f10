/**
 * Skills as files: reading them from folders, and the head that one may have between two lines of dashes.
 * Owns what is taken for a head, a name and a trigger. A file that cannot be read as a skill is none and is named: it
 * never counts as one of another kind.
 */
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

import { z } from 'zod';

import {
  SKILL_BYTES_MAX,
  SKILL_ENTRIES_MAX,
  SKILL_FOLDER_DEPTH_MAX,
  SKILL_NAME_CHARS_MAX,
  SKILLS_PER_FOLDER_MAX,
} from './limits.ts';
import { messageOf } from './serve/log.ts';
import type { Skill } from './skills.ts';
import { readReachable } from './tool-files.ts';

/** Why a file is no skill, or cannot be read at all; a sentence without its name. */
export class FileFinding extends Error {}

export interface SkillsRead {
  readonly skills: readonly Skill[];
  /** Files that were left out and why: one sentence each. */
  readonly findings: readonly string[];
}

/** Not a skill, but what people write about the others. */
const ABOUT = /^readme\.md$/i;
const FOLDER_SKILL = /^skill\.md$/i;

/** Skills of one folder and those below it, texts before folders and in order of their names; nothing that lies outside of `root` is followed. */
export async function skillsIn(folder: string, root: string): Promise<SkillsRead> {
  const paths = await skillPaths(folder, { depth: 0, looked: { entries: 0 } });
  const skills: Skill[] = [];
  const findings: string[] = [];
  for (const path of paths.slice(0, SKILLS_PER_FOLDER_MAX)) {
    try {
      const text = await readInside(path, root);
      if (text !== null) skills.push(await parseSkill(path, text));
    } catch (error) {
      if (!(error instanceof FileFinding)) throw error;
      findings.push(`"${relative(root, path)}" is not used as a skill: ${error.message}`);
    }
  }
  if (paths.length > SKILLS_PER_FOLDER_MAX)
    findings.push(
      `"${relative(root, folder)}" has more than ${SKILLS_PER_FOLDER_MAX} skills: the others are not used`,
    );
  return { skills, findings };
}

/** What a folder has for a skill: its SKILL.md, or else every text in it and below. One more than are read at most. */
async function skillPaths(
  folder: string,
  { depth, looked }: { readonly depth: number; readonly looked: { entries: number } },
): Promise<readonly string[]> {
  const names = (await readdir(folder).catch(() => [])).sort();
  const own = depth === 0 ? undefined : names.find((name) => FOLDER_SKILL.test(name));
  if (own !== undefined) return [join(folder, own)];
  const paths: string[] = [];
  const isText = (name: string): boolean => /\.md$/i.test(name);
  for (const name of [...names.filter(isText), ...names.filter((each) => !isText(each))]) {
    looked.entries += 1;
    if (looked.entries > SKILL_ENTRIES_MAX || paths.length > SKILLS_PER_FOLDER_MAX) break;
    const path = join(folder, name);
    if (!isText(name)) {
      if (depth + 1 < SKILL_FOLDER_DEPTH_MAX)
        paths.push(...(await skillPaths(path, { depth: depth + 1, looked })));
    } else if (!ABOUT.test(name)) paths.push(path);
  }
  return paths;
}

/**
 * The text of a small regular file that lies below `root` when links are followed, without a byte order mark; null when
 * there is none of that name.
 *
 * @throws FileFinding it is there, and is no such file
 */
export async function readInside(path: string, root: string): Promise<string | null> {
  try {
    const real = await realpath(path);
    const realRoot = await realpath(root);
    if (real !== realRoot && !real.startsWith(`${realRoot}/`))
      throw new FileFinding('it is a link that leads out of the folder');
    const found = await stat(real);
    if (!found.isFile()) throw new FileFinding('it is no regular file');
    if (found.size > SKILL_BYTES_MAX) throw new FileFinding(`it is larger than ${SKILL_BYTES_MAX} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(await readReachable(real));
  } catch (error) {
    if (error instanceof FileFinding) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      if ((await lstat(path).catch(() => null)) === null) return null;
      throw new FileFinding('it is a link to nothing');
    }
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw new FileFinding('it is no UTF-8 text');
    throw new FileFinding(`it cannot be read (${code === '' ? messageOf(error) : code})`);
  }
}

/** Words as they stand: `404`, `yes` and `1.10` are no number, truth or fraction here. */
const wordSchema = z
  .string()
  .transform((word) => (/^(null|~|)$/i.test(word.trim()) ? undefined : word.trim()))
  .optional();
const headSchema = z.object({
  name: wordSchema.refine((name) => (name?.length ?? 0) <= SKILL_NAME_CHARS_MAX),
  description: wordSchema,
  triggers: z
    .union([wordSchema, z.array(wordSchema)])
    .transform((words) => [words].flat().filter((word) => word !== undefined)),
});
type Head = z.output<typeof headSchema>;

/** A file with a head of name, description and triggers, or without one. @throws FileFinding */
export async function parseSkill(path: string, given: string): Promise<Skill> {
  const text = given.replace(/^\uFEFF/, '');
  const isFolder = FOLDER_SKILL.test(basename(path));
  const fallback = isFolder ? basename(dirname(path)) : basename(path).replace(/\.md$/i, '');
  const { head, content } = await splitHead(text);
  return {
    name: head.name ?? fallback,
    content,
    triggers: head.triggers,
    description: isFolder && head.triggers.length === 0 ? (head.description ?? fallback) : null,
    source: path,
  };
}

const NO_HEAD: Head = { name: undefined, description: undefined, triggers: [] };
const LINE_OF_DASHES = /^---[ \t]*(?:\r?\n|$)/;
const KEY = /^[ \t]*(?:\{|["']?[A-Za-z_][\w-]*["']?[ \t]*:(?:\s|$))/m;

/** A line of dashes may be a rule of the text, too: then no `key:` follows it. */
async function splitHead(text: string): Promise<{ readonly head: Head; readonly content: string }> {
  const opening = LINE_OF_DASHES.exec(text)?.[0];
  if (opening === undefined) return { head: NO_HEAD, content: text };
  const rest = text.slice(opening.length);
  const closing = new RegExp(LINE_OF_DASHES.source, 'm').exec(rest);
  const [paragraph = ''] = rest.trimStart().split(/\r?\n[ \t]*\r?\n/, 1);
  const written = closing === null ? paragraph : rest.slice(0, closing.index);
  if (/\S/.test(written) && !KEY.test(written)) return { head: NO_HEAD, content: text };
  if (closing === null) throw new FileFinding('its head has no second line of dashes');
  return { head: await readHead(written), content: rest.slice(closing.index + closing[0].length) };
}

/** As YAML; where that fails, once more with what only quotes would have made a text. @throws FileFinding */
async function readHead(written: string): Promise<Head> {
  // Loaded when the first head is read: most servers never see one.
  const { parse } = await import('yaml');
  const problems: string[] = [];
  for (const text of [written, quotedWords(written)]) {
    try {
      const value: unknown = parse(text, { schema: 'failsafe', logLevel: 'error' });
      const { name, description, triggers } = keysOf(value);
      const read = headSchema.safeParse({ name, description, triggers });
      if (read.success) return read.data;
      const [issue] = read.error.issues;
      problems.push(`"${issue?.path.join('.') ?? ''}" is not what it should be: a text, or a list of texts`);
    } catch (error) {
      problems.push(messageOf(error).split('\n')[0] ?? '');
    }
  }
  throw new FileFinding(`its head cannot be read: ${problems[0] ?? ''}`);
}

/** @throws Error the head holds something else */
function keysOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value === null || value === '') return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new Error('it has no keys');
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toLowerCase(), item]));
}

/** Behind a key or a dash, up to the end of the line; what begins as a quote, a list or a block is left as it is. */
const PLAIN_WORD = /^([ \t]*(?:-[ \t]+|[A-Za-z_][\w-]*[ \t]*:[ \t]+))([^\s'"[{|>].*?)([ \t]*\r?)$/gm;

/** A text with a colon, an at sign or a star in front is none for YAML, and people write it all the same. */
function quotedWords(written: string): string {
  return written.replace(PLAIN_WORD, (_line, lead: string, word: string, end: string) => {
    return `${lead}'${word.replaceAll("'", "''")}'${end}`;
  });
}
