/**
 * Settings that count seconds, which may be written as a job writes a length of time.
 * Owns which they are and the conversion; bounds are those of the schema.
 */
import { SECOND_MS } from '../../../core/time.ts';
import { parseDuration } from '../../../dsl/duration.ts';
import type { Tree } from '../../../dsl/read/tree.ts';
import type { DeploymentFile } from '../deployment-file.ts';
import type { SettingPath } from '../settings.ts';

export const IN_SECONDS: ReadonlySet<string> = new Set<SettingPath>([
  'limits.idle_time',
  'limits.deletion_time',
  'warm_pool.max_age',
  'host.lease',
  'host.lost_after',
  'store.statement_timeout',
]);

/** Null where the setting counts no seconds, or the text is no length of time. */
export function secondsOf(path: string, text: string): number | null {
  const durationMs = IN_SECONDS.has(path) ? parseDuration(text) : null;
  return durationMs === null ? null : durationMs / SECOND_MS;
}

/** The file with such texts as the numbers that they mean; places stay those of the text. */
export function withSeconds(file: DeploymentFile): DeploymentFile {
  return file.tree === null ? file : { ...file, tree: inSeconds(file.tree, '') };
}

function inSeconds(tree: Tree, path: string): Tree {
  switch (tree.kind) {
    case 'scalar': {
      const seconds = typeof tree.value === 'string' ? secondsOf(path, tree.value) : null;
      return seconds === null ? tree : { ...tree, value: seconds };
    }
    case 'list':
      return tree;
    case 'map': {
      const entries = tree.entries.map((entry) => ({
        ...entry,
        value: inSeconds(entry.value, path === '' ? entry.key : `${path}.${entry.key}`),
      }));
      return { ...tree, entries };
    }
    default:
      return tree satisfies never;
  }
}
