/**
 * What is allowed in a pool and probably not meant.
 * Owns the warnings about `placement.pool`; a warning never changes the plan.
 */
import { counted } from '../../core/text/counted.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { outlastsSession } from '../../core/sandbox/session.ts';
import { formatDuration } from '../duration.ts';
import type { Report } from './report.ts';
import { treeAt, type Tree } from '../read/tree.ts';

interface Linted {
  readonly plan: Plan;
  readonly root: Tree;
  readonly report: Report;
}

export function lintPool({ plan, root, report }: Linted): void {
  const { pool } = plan.placement;
  if (pool === undefined) return;
  const { size, maxPerSandbox, recycleAgeMs, onFull } = pool;
  const maxAge = treeAt(root, ['placement', 'pool', 'recycle', 'max_age']);
  if (maxAge !== undefined && recycleAgeMs !== null && outlastsSession(recycleAgeMs)) {
    const message = `an age of ${formatDuration(recycleAgeMs)} is not below the session length of 12h (D10), which ends first`;
    report.add('JOB517', maxAge.span, message, { remedy: 'write less than 12h, such as 10h' });
  }
  const places = size * maxPerSandbox;
  const { concurrency } = plan.admission;
  const written = treeAt(root, ['admission', 'concurrency']);
  if (written === undefined || onFull === 'spill' || Math.min(concurrency, plan.items.length) <= places)
    return;
  const becomes = onFull === 'fail' ? 'the others fail' : 'it is never reached';
  report.add(
    'JOB516',
    written.span,
    `${concurrency} at once, but the pool has ${counted(places, 'place')}: ${becomes}`,
    {
      remedy: `write ${places}, or give the pool more sandboxes`,
    },
  );
}
