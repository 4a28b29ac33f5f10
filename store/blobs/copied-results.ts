/**
 * Results that live elsewhere, with a folder of this machine for copies of them.
 * Owns that a copy is made when a command needs it, and that a failed copy is named and does not affect the others.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { LocalResults, Results } from '../../ports/results.ts';
import type { RunId } from '../../core/ids.ts';

/** More than a run has; a longer listing would not fit into memory. */
const FILES_MAX = 1_000_000;
/** Enough that round trips to the store overlap. */
const AT_ONCE = 8;

export function copiedResults(results: Results, copies: LocalResults): LocalResults {
  return {
    ...results,
    folder: (runId) => copies.folder(runId),
    async fetch(runId, isWanted) {
      const names = (await results.names(runId, FILES_MAX)).filter(isWanted);
      const queue = [...names.entries()];
      const left = new Set<string>();
      const work = async (): Promise<void> => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          const [, name] = next;
          if (!(await copy({ from: results, to: copies, runId, name }))) left.add(name);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      const kept = names.filter((name) => !left.has(name));
      return { files: kept.map((name) => `${copies.folder(runId)}/${name}`), left: [...left].sort() };
    },
  };
}

interface Copying {
  readonly from: Results;
  readonly to: Results;
  readonly runId: RunId;
  readonly name: string;
}

/** False where this machine accepts no file of that name, or the result is gone meanwhile. */
async function copy({ from, to, runId, name }: Copying): Promise<boolean> {
  const file = { runId, key: null, name };
  const content = await from.read(file);
  if (content === null) return false;
  try {
    await to.write(file, content);
    return true;
  } catch (error) {
    if (isForItsName(error)) return false;
    throw error;
  }
}

/** A file may be in the place of a folder, and a disk may refuse a name that an object store accepts. */
function isForItsName(error: unknown): boolean {
  if (!(error instanceof ParleyError)) return false;
  if (error.code === 'invalid_request') return true;
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return ['ENAMETOOLONG', 'EINVAL', 'EILSEQ', 'EISDIR', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY'].includes(code);
}
