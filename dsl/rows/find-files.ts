/**
 * The files that patterns match, from the folder of the job.
 * Owns the walk, its order and its bounds, and which names one part of a pattern matches.
 */
import { nearestName } from '../check/nearest-name.ts';
import { joinPath } from '../local-path.ts';
import type { FolderEntry, FolderRead } from '../world.ts';

/** More files than this are rows of a data file that names them. */
export const FILES_MAX = 10_000;
/** Entries that are visited: a pattern may reach folders the author did not mean, such as installed packages. */
export const ENTRIES_MAX = 200_000;

export type FoundFiles =
  | { readonly files: readonly string[] }
  | { readonly problem: 'too_many_files' | 'too_many_entries' }
  | { readonly problem: 'unreadable'; readonly folder: string };

type ListFolder = (folder: string) => FolderRead;

/** Each file once, in the order of their paths; a path begins at the folder of the job. */
export function findFiles(patterns: readonly string[], list: ListFolder): FoundFiles {
  const walk = new Walk(list);
  for (const pattern of patterns)
    for (const steps of stepsOf(pattern)) {
      walk.go('', steps, 0);
      if (walk.problem !== null) return walk.problem;
    }
  return { files: [...walk.found].sort((a, b) => (a < b ? -1 : 1)) };
}

type Step =
  | { readonly kind: 'up' }
  | { readonly kind: 'any_depth' }
  | { readonly kind: 'name'; readonly pattern: NamePattern };

function stepsOf(pattern: string): Step[][] {
  return namePatterns(pattern).map((parts) => {
    const steps = parts.map((part): Step => {
      if (part === '**') return { kind: 'any_depth' };
      return part === '..' ? { kind: 'up' } : { kind: 'name', pattern: part };
    });
    const isOpen = steps.at(-1)?.kind === 'any_depth';
    return isOpen ? [...steps, ...(stepsOf('*')[0] ?? [])] : steps;
  });
}

class Walk {
  problem: Extract<FoundFiles, { problem: string }> | null = null;
  readonly found = new Set<string>();
  private readonly list: ListFolder;
  private readonly folders = new Map<string, readonly FolderEntry[]>();
  /** A pattern with several `**` comes to a folder on several ways. */
  private readonly seen = new Map<readonly Step[], Set<string>>();
  private entries = 0;

  constructor(list: ListFolder) {
    this.list = list;
  }

  go(folder: string, steps: readonly Step[], at: number): void {
    const step = steps[at];
    if (step === undefined || this.problem !== null || !this.isNew(folder, steps, at)) return;
    if (step.kind === 'up') return this.go(joinPath(folder, '..'), steps, at + 1);
    if (step.kind === 'any_depth') this.go(folder, steps, at + 1);
    const isLast = at === steps.length - 1;
    for (const entry of this.entriesOf(folder)) {
      if (this.problem !== null) return;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      // A link to a folder is followed where a part of the pattern names it: `**` would go round in circles.
      if (step.kind === 'any_depth') {
        if (entry.kind === 'folder' && !entry.isLink && !entry.name.startsWith('.')) this.go(path, steps, at);
      } else if (!step.pattern.matches(entry.name)) continue;
      else if (!isLast && entry.kind === 'folder') this.go(path, steps, at + 1);
      else if (isLast && entry.kind !== 'folder') this.add(path);
    }
  }

  private add(path: string): void {
    this.found.add(path);
    if (this.found.size > FILES_MAX) this.problem = { problem: 'too_many_files' };
  }

  private isNew(folder: string, steps: readonly Step[], at: number): boolean {
    const seen = this.seen.get(steps) ?? new Set();
    const place = `${at} ${folder}`;
    const isNew = !seen.has(place);
    this.seen.set(steps, seen.add(place));
    return isNew;
  }

  private entriesOf(folder: string): readonly FolderEntry[] {
    const known = this.folders.get(folder);
    if (known !== undefined) return known;
    const read = this.list(folder);
    const entries = 'problem' in read ? [] : read.entries;
    this.folders.set(folder, entries);
    this.entries += entries.length;
    if (this.entries > ENTRIES_MAX) this.problem = { problem: 'too_many_entries' };
    if ('problem' in read && read.problem === 'unreadable') this.problem = { problem: 'unreadable', folder };
    return entries;
  }
}

/** The first part of a pattern that names a folder which is not there, and what may have been meant; null when all are. */
export function missingFolder(
  pattern: string,
  list: ListFolder,
): { readonly path: string; readonly near: string | null } | null {
  let folder = '';
  const parts = pattern.split('/').slice(0, -1);
  for (const part of parts) {
    if (/[*?[\]{}]/.test(part)) return null;
    const read = list(folder);
    const names = 'problem' in read ? [] : read.entries.filter(({ kind }) => kind === 'folder');
    const path = joinPath(folder, part);
    if (part !== '..' && part !== '.' && part !== '' && !names.some(({ name }) => name === part)) {
      const near = nearestName(
        part,
        names.map(({ name }) => name),
      );
      return { path, near: near === null ? null : joinPath(folder, near) };
    }
    folder = path;
  }
  return null;
}

/**
 * One part of a pattern of files, between two slashes, against the name of a file or folder.
 * Owns the grammar: `*`, `?`, `[a-z]`, `[!a-z]`, and `{a,b}` over parts. Takes time in proportion to name and pattern.
 */

interface NamePattern {
  matches(name: string): boolean;
}

/** What `{a,b}` may spread to: more is a list of patterns. */
const SPREAD_MAX = 100;

/** The parts of a pattern, once for each choice of its braces; `**` and `..` stand for themselves. */
export function namePatterns(pattern: string): (NamePattern | '**' | '..')[][] {
  return spread(pattern).map((one) =>
    one
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .map((part) => (part === '**' || part === '..' ? part : namePattern(part))),
  );
}

/** Braces that are not closed, or hold no comma, are characters as all others. */
function spread(pattern: string): string[] {
  let patterns = [pattern];
  for (;;) {
    const next = patterns.flatMap((one) => {
      const found = /\{([^{}]*,[^{}]*)\}/.exec(one);
      if (found === null) return [one];
      const [whole, choices = ''] = found;
      const behind = one.slice(found.index + whole.length);
      return choices.split(',').map((choice) => `${one.slice(0, found.index)}${choice}${behind}`);
    });
    if (next.length === patterns.length || next.length > SPREAD_MAX) return patterns;
    patterns = next;
  }
}

type Token = { readonly kind: 'star' } | { readonly kind: 'one'; accepts(character: string): boolean };

function namePattern(part: string): NamePattern {
  const tokens = tokensOf(part);
  return {
    // As in a shell: a name that begins with a dot matches only a pattern that begins with one.
    matches: (name) => (!name.startsWith('.') || part.startsWith('.')) && matchesTokens([...name], tokens),
  };
}

function tokensOf(part: string): Token[] {
  const characters = [...part];
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    if (character === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (character === '?') tokens.push({ kind: 'one', accepts: () => true });
    else {
      const set = character === '[' ? setAt(characters, at) : null;
      tokens.push({ kind: 'one', accepts: set?.accepts ?? ((other) => other === character) });
      at = set?.end ?? at;
    }
  }
  return tokens;
}

/** `[a-z]`, `[!a-z]`, `[]x]`; null when nothing closes it, and it is a character as all others. */
function setAt(
  characters: readonly string[],
  from: number,
): { readonly end: number; accepts(character: string): boolean } | null {
  const isNegated = characters[from + 1] === '!' || characters[from + 1] === '^';
  const first = from + (isNegated ? 2 : 1);
  // A bracket that comes first is one of the set.
  const end = characters.indexOf(']', first + 1);
  if (end === -1) return null;
  const ranges: (readonly [string, string])[] = [];
  for (let at = first; at < end; at += 1) {
    const low = characters[at] ?? '';
    const isRange = characters[at + 1] === '-' && at + 2 < end;
    const high = isRange ? (characters[at + 2] ?? '') : low;
    ranges.push([low, high]);
    if (isRange) at += 2;
  }
  const holds = (character: string): boolean =>
    ranges.some(([low, high]) => low <= character && character <= high);
  return { end, accepts: (character) => holds(character) !== isNegated };
}

/** Goes back to the last star only, so that no name takes longer than its length times that of the pattern. */
function matchesTokens(name: readonly string[], tokens: readonly Token[]): boolean {
  let at = 0;
  let token = 0;
  let star: { readonly token: number; at: number } | null = null;
  while (at < name.length) {
    const current = tokens[token];
    if (current?.kind === 'star') {
      star = { token, at };
      token += 1;
    } else if (current?.accepts(name[at] ?? '') === true) {
      at += 1;
      token += 1;
    } else if (star === null) return false;
    else {
      star.at += 1;
      at = star.at;
      token = star.token + 1;
    }
  }
  return tokens.slice(token).every(({ kind }) => kind === 'star');
}
