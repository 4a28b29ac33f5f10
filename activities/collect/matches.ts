/**
 * What globs match in a workspace, listed inside the sandbox, where the files are.
 * Owns the script and how its answer is read. Names are bytes: they come back ended by NUL and in base64.
 */
import { ParleyError } from '../../core/parley-error.ts';
import { quoted } from '../../core/text/shell-word.ts';
import type { AgentTarget } from '../../ports/agent-server.ts';
import type { World } from '../world.ts';

const MATCHES_MAX = 1_000;
/** Of all names together: with the longest ones a list would not come back whole. */
const NAME_BYTES_MAX = 1024 * 1024;
const LIST_TIMEOUT_MS = 60_000;
const NAME_SHOWN_CHARS_MAX = 200;

const KINDS = { f: 'file', u: 'unreadable', l: 'link', s: 'special', o: 'outside' } as const;

export interface Match {
  readonly kind: (typeof KINDS)[keyof typeof KINDS];
  /** Relative to the working directory. */
  readonly name: Buffer;
  /** Zero when it is not known. */
  readonly bytes: number;
}

export interface Matches {
  readonly matches: readonly Match[];
  /** How many more there are. */
  readonly uncounted: number;
  /** How many are too deep for a path. */
  readonly tooDeep: number;
}

/** @throws ParleyError collect_failed: the workspace cannot be listed at all */
export async function listMatches(
  world: World,
  target: AgentTarget,
  { workingDir, globs }: { readonly workingDir: string; readonly globs: readonly string[] },
): Promise<Matches> {
  const result = await world.agent.execute(target, {
    command: `bash -c ${quoted(script(globs))}`,
    workingDir,
    timeoutMs: LIST_TIMEOUT_MS,
  });
  if (result.exitCode !== 0)
    throw new ParleyError(
      'collect_failed',
      `Cannot list the files to collect: ${result.stderr.slice(0, 500)}`,
    );
  return readList(Buffer.from(result.stdout, 'base64'));
}

/** Records of kind, size, name and NUL; the last one says how many were not printed, and how many are too deep for a path. */
function script(globs: readonly string[]): string {
  return [
    'set -o pipefail; shopt -s globstar nullglob dotglob',
    `max=${MATCHES_MAX}; longest=${NAME_BYTES_MAX}`,
    'root=$(pwd -P); count=0; length=0; over=0; deep=0; seen=; answer=',
    // A folder on the way may be a link, too.
    'real() { local dir; dir=$(cd -P -- "$1" 2>/dev/null && pwd -P) && case "$dir/" in "$root"/*) true ;; *) false ;; esac; }',
    'inside() { local dir=.; case "$1" in */*) dir="${1%/*}" ;; esac',
    '  if [ "$dir" != "$seen" ]; then seen="$dir"; if real "$dir"; then answer=y; else answer=n; fi; fi',
    '  [ "$answer" = y ]; }',
    'say() { count=$((count + 1)); length=$((length + ${#2})); printf "%s%s %s\\0" "$1" "$3" "$2"; }',
    'look() { local f="$1"',
    '  case "$f" in .git/*|*/.git/*|.git|*/.git) return ;; esac',
    '  if [ ! -L "$f" ] && [ -d "$f" ]; then return; fi',
    '  if [ ! -L "$f" ] && [ ! -e "$f" ]; then return; fi',
    '  if [ "$count" -ge "$max" ] || [ $((length + ${#f})) -gt "$longest" ]; then over=$((over + 1)); return; fi',
    '  if ! inside "$f"; then say o "$f" 0; elif [ -L "$f" ]; then say l "$f" 0',
    '  elif [ ! -f "$f" ]; then say s "$f" 0; elif [ ! -r "$f" ]; then say u "$f" 0',
    '  else say f "$f" "$(stat -c %s -- "$f" 2>/dev/null || echo 0)"; fi; }',
    '{ :',
    ...globs.map((glob) => `for f in ${unquotedGlob(glob)}; do look "$f"; done`),
    // A shell passes over what is too deep for a path without a word.
    ...(globs.some((glob) => glob.includes('**')) ? [`deep=$(${DEEP})`] : []),
    'printf "%s %s" "$over" "$deep"; } | base64',
  ].join('\n');
}

const DEEP = `find . -name .git -prune -o -regextype posix-extended -regex '.{4096,}' -printf 1 2>/dev/null | wc -c`;

function readList(list: Buffer): Matches {
  const byName = new Map<string, Match>();
  let from = 0;
  for (let end = list.indexOf(0); end !== -1; end = list.indexOf(0, from)) {
    const record = list.subarray(from, end);
    const space = record.indexOf(0x20);
    const kind = KINDS[record.toString('latin1', 0, 1) as keyof typeof KINDS];
    const name = record.subarray(space + 1);
    byName.set(name.toString('latin1'), { kind, name, bytes: Number(record.toString('latin1', 1, space)) });
    from = end + 1;
  }
  const [uncounted, tooDeep] = list.toString('latin1', from).split(' ').map(Number);
  const names = [...byName.keys()].sort();
  return {
    matches: names.flatMap((name) => byName.get(name) ?? []),
    uncounted: uncounted ?? 0,
    tooDeep: tooDeep ?? 0,
  };
}

/** Everything but the glob's own characters is quoted: a pattern is data, not a script. */
function unquotedGlob(glob: string): string {
  return glob.replaceAll(/[^A-Za-z0-9_./*?[\]{},-]/g, (character) => `\\${character}`);
}

/** On one line, whatever it is made of. */
export function shownName(name: Buffer): string {
  const plain = name
    .toString('utf8')
    .replace(/[\p{C}\u2028\u2029]/gu, (odd) => `\\u{${(odd.codePointAt(0) ?? 0).toString(16)}}`);
  return plain.length <= NAME_SHOWN_CHARS_MAX
    ? plain
    : `${plain.slice(0, NAME_SHOWN_CHARS_MAX / 2)}…${plain.slice(-NAME_SHOWN_CHARS_MAX / 2)}`;
}
