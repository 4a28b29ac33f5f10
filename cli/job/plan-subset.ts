/**
 * A part of a plan: only some items, only so many, some of them first.
 * Owns the choice; a changed plan is a plan of its own, with its own hash.
 */
import type { Plan } from '../../core/plan/plan.ts';
import { hashPlan } from '../../dsl/plan/plan-text.ts';
import { CliError } from '../../host/cli-error.ts';
import { SHA256 } from '../../host/job/job-file.ts';

export interface Subset {
  /** Keys that are kept, as a pattern; `*` stands for any characters, `?` for one. */
  readonly only: string | null;
  /** How many are kept, in the order of the plan. */
  readonly limit: number | null;
  /** How many begin first. */
  readonly canary: number | null;
  /** How many at once. */
  readonly concurrency: number | null;
}

/** @throws CliError when nothing is left */
export function subsetOf(plan: Plan, { only, limit, canary, concurrency }: Subset): Plan {
  if (only === null && limit === null && canary === null && concurrency === null) return plan;
  const pattern = only === null ? null : globPattern(only);
  const chosen = plan.items
    .filter(({ key }) => pattern === null || pattern.test(key))
    .slice(0, limit ?? undefined);
  if (chosen.length === 0)
    throw new CliError(`Cannot run only "${only ?? ''}": no conversation of the plan has such a key`, {
      remedy: 'list the keys with "parley plan FILE --expanded"',
    });
  const admission = {
    ...plan.admission,
    ...(canary === null ? {} : { canary }),
    ...(concurrency === null ? {} : { concurrency }),
  };
  const items = chosen.map((item, index) => ({ ...item, index }));
  const { hash: _hash, ...rest } = { ...plan, items, admission };
  return { ...rest, hash: hashPlan(rest, SHA256) };
}

function globPattern(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`);
}
