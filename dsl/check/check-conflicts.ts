/**
 * Keys that contradict each other or are of no use alone.
 * Owns pairs of keys of one map; must not read other conversations.
 */
import { addBeside, type Report } from './report.ts';
import { childOf, entriesOf, entryOf, itemsOf, textOf, treeAt, type Tree } from '../read/tree.ts';
import { allFields, conversationsOf, type CheckContext } from './check-context.ts';

export function checkConflicts({ root, report }: CheckContext): void {
  for (const { tree } of allFields(root)) checkBranch(tree, root, report);
  for (const { tree } of conversationsOf(root)) {
    checkMatrixKeys(tree, report);
    checkOutcome(tree, report);
  }
  checkPool(childOf(root, 'placement'), report);
  checkHost(childOf(root, 'placement'), report);
}

/** A sandbox stays on the host on which it lives. */
function checkHost(placement: Tree | undefined, report: Report): void {
  const sandbox = entryOf(placement, 'sandbox');
  if (sandbox === undefined) return;
  for (const key of ['host', 'labels']) {
    const entry = entryOf(placement, key);
    if (entry === undefined) continue;
    addBeside(report, 'JOB215', [entry, sandbox], `"${key}" and "sandbox" both say where conversations run`);
  }
}

function checkPool(placement: Tree | undefined, report: Report): void {
  const pool = entryOf(placement, 'pool');
  if (pool === undefined) return;
  const sandbox = entryOf(placement, 'sandbox');
  if (sandbox !== undefined)
    addBeside(report, 'JOB215', [pool, sandbox], '"pool" and "sandbox" both say where conversations run');
  const strategy = entryOf(placement, 'strategy');
  const places = entryOf(pool.value, 'max_per_sandbox');
  const isShared = places?.value.kind === 'scalar' && Number(places.value.value) > 1;
  if (strategy !== undefined && textOf(strategy.value) === 'no_grouping' && isShared)
    addBeside(report, 'JOB215', [places, strategy], '"no_grouping" means one conversation in a sandbox', {
      remedy: 'write another strategy, or leave out "max_per_sandbox"',
    });
  const recycle = entryOf(pool.value, 'recycle');
  if (recycle === undefined || recycle.value.kind !== 'map' || entriesOf(recycle.value).length > 0) return;
  report.add('JOB215', recycle.keySpan, '"recycle" says neither after how many nor at which age', {
    remedy: 'add "after" or "max_age", or remove the key',
  });
}

function checkBranch(tree: Tree, root: Tree, report: Report): void {
  const branch = entryOf(tree, 'branch');
  const inRepo = entryOf(childOf(tree, 'repo'), 'branch');
  const ref = entryOf(childOf(tree, 'repo'), 'ref');
  const other = inRepo ?? branch;
  if (ref !== undefined && other !== undefined)
    addBeside(report, 'JOB215', [ref, other], '"ref" and "branch" both say where the work starts');
  if (branch === undefined) return;
  if (inRepo !== undefined)
    addBeside(report, 'JOB215', [branch, inRepo], '"branch" and "repo.branch" both name the branch', {
      otherName: 'repo.branch',
    });
  const isDefaults = tree === childOf(root, 'defaults');
  const hasRepository =
    childOf(tree, 'repo') !== undefined || treeAt(root, ['defaults', 'repo']) !== undefined;
  if (isDefaults || hasRepository) return;
  report.add('JOB215', branch.keySpan, '"branch" stands without a repository', {
    remedy: 'add repo: owner/name',
  });
}

function checkMatrixKeys(tree: Tree, report: Report): void {
  if (entryOf(tree, 'matrix') !== undefined) return;
  for (const key of ['exclude', 'include']) {
    const entry = entryOf(tree, key);
    if (entry === undefined || (itemsOf(entry.value).length === 0 && entry.value.kind === 'list')) continue;
    report.add('JOB215', entry.keySpan, `"${key}" stands without a matrix`, {
      remedy: 'add "matrix", or remove the key',
    });
  }
}

/** A single copy needs no rule for several. */
function checkOutcome(tree: Tree, report: Report): void {
  const outcome = entryOf(tree, 'outcome');
  const rule = textOf(outcome?.value);
  const repeat = childOf(tree, 'repeat');
  const isRepeated = repeat !== undefined && !(repeat.kind === 'scalar' && Number(repeat.value) === 1);
  if (outcome === undefined || rule === null || rule === 'all' || isRepeated) return;
  report.add('JOB215', outcome.keySpan, '"outcome" has no use without copies', {
    remedy: 'add "repeat: 3", or remove the key',
  });
}
