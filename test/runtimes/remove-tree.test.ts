/** removeTree: what an agent may leave behind, deeper than a path can say included. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeTree } from '../../runtimes/on-host/remove-tree.ts';
import { tempDir } from '../helpers/temp-dir.ts';

describe('removeTree', () => {
  it('removes folders that are nested beyond the longest path, closed ones too, and follows no link', async () => {
    const root = path.join(tempDir(), 'tree');
    const kept = path.join(tempDir(), 'kept');
    mkdirSync(root);
    writeFileSync(kept, 'kept');
    symlinkSync(path.dirname(kept), path.join(root, 'link'));
    const script =
      'n=$(printf "d%.0s" $(seq 200)); for i in $(seq 45); do mkdir $n; cd $n; done; echo x > leaf; chmod 000 .';
    execFileSync('bash', ['-c', script], { cwd: root });
    await removeTree(root);
    expect([existsSync(root), existsSync(kept)]).toEqual([false, true]);
  });
});
