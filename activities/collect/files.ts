/**
 * Files by glob, read from the workspace.
 * Owns the listing inside the sandbox and the bounds; a link that leads out of the workspace is not followed.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { AgentTarget } from '../../ports/agent-server.ts';
import { quoted, workspaceFacts } from '../in-sandbox.ts';
import type { World } from '../world.ts';
import type { Collected } from './collected.ts';

const FILES_MAX = 1_000;
/** Of all files of one item together: results are for reading, archives are made elsewhere. */
const BYTES_MAX = 256 * 1024 * 1024;
const LIST_TIMEOUT_MS = 60_000;

export async function collectFiles(
  world: World,
  target: AgentTarget,
  wanted: { readonly conversationId: ConversationId; readonly globs: readonly string[] },
): Promise<readonly Collected[]> {
  const { workingDir } = await workspaceFacts(world, wanted.conversationId);
  const names = await list(world, target, workingDir, wanted.globs);
  const files: Collected[] = [];
  let bytes = 0;
  for (const name of names) {
    const content = await world.agent.readFile(target, `${workingDir}/${name}`);
    if (content === null) continue;
    bytes += content.byteLength;
    if (bytes > BYTES_MAX)
      throw new ParleyError('collect_failed', `Cannot collect files: more than ${BYTES_MAX} bytes match`);
    files.push({ name: `files/${name}`, content });
  }
  return files;
}

/** Regular files only, relative to the working directory; expanded by the shell inside, where the files are. */
async function list(
  world: World,
  target: AgentTarget,
  workingDir: string,
  globs: readonly string[],
): Promise<readonly string[]> {
  const command = [
    'shopt -s globstar nullglob dotglob',
    'root=$(pwd -P)',
    // A folder on the way may be a link, too.
    'inside() { case "$(cd -P -- "$(dirname -- "$1")" && pwd -P)/" in "$root"/*) true ;; *) false ;; esac; }',
    'list() { for f in "$@"; do case "$f" in .git/*|*/.git/*) continue ;; esac; [ -f "$f" ] && [ ! -L "$f" ] && inside "$f" && printf "%s\\n" "$f"; done; true; }',
    ...globs.map((glob) => `list ${unquotedGlob(glob)}`),
  ].join('\n');
  const result = await world.agent.execute(target, {
    command: `bash -c ${quoted(command)}`,
    workingDir,
    timeoutMs: LIST_TIMEOUT_MS,
  });
  if (result.exitCode !== 0)
    throw new ParleyError(
      'collect_failed',
      `Cannot list the files to collect: ${result.stderr.slice(0, 500)}`,
    );
  const names = [...new Set(result.stdout.split('\n').filter((line) => line !== ''))].sort();
  return names.slice(0, FILES_MAX);
}

/** Everything but the glob's own characters is quoted: a pattern is data, not a script. */
function unquotedGlob(glob: string): string {
  return glob.replaceAll(/[^A-Za-z0-9_./*?[\]{},-]/g, (character) => `\\${character}`);
}
