/**
 * One part of a pattern of files, between two slashes, against the name of a file or folder.
 * Owns the grammar: `*`, `?`, `[a-z]`, `[!a-z]`, and `{a,b}` over parts. Takes time in proportion to name and pattern.
 */

export interface NamePattern {
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
    // As a shell has it: a name that begins with a dot is meant only by who writes the dot.
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
