/**
 * The parts of a report about what a run did beside its conversations: pushed branches, and notifications of its end.
 * Pure: data in, blocks out; must not lay anything out.
 */
import { boundedList, left, table, text, type Section } from './document.ts';
import type { DeliveredItem, LastStepShown, ReportData } from './report-data.ts';
import { cut, instant } from './report-words.ts';

/** A `.jsonl` report holds every item. */
const BRANCHES_SHOWN_MAX = 1_000;
const PROBLEMS_SHOWN_MAX = 50;
const PROBLEM_CHARACTERS_MAX = 300;
/** Enough of a commit to find it again. */
const COMMIT_CHARACTERS = 12;

const STATES = {
  pushed: 'pushed',
  pushing: 'cut off',
  nothing: 'without a change',
  failed: 'not pushed',
} as const satisfies Readonly<Record<DeliveredItem['state'], string>>;

/** Without blocks in a run that pushes nothing. */
export function deliverySection({ items }: ReportData): Section {
  const delivered = items.flatMap(({ key, delivery }) => (delivery === null ? [] : [{ key, ...delivery }]));
  const count = (state: DeliveredItem['state']): number =>
    delivered.filter((one) => one.state === state).length;
  const failed = count('failed') + count('pushing');
  const opened = delivered.filter(({ pullRequest }) => pullRequest !== null).length;
  const asksPulls =
    opened > 0 || delivered.some(({ state, problem }) => state === 'pushed' && problem !== null);
  const words = `${count('pushed')} pushed, ${count('nothing')} without a change, ${failed} not pushed${opened === 0 ? '' : `; ${opened} with a pull request`}`;
  const rows = delivered
    .slice(0, BRANCHES_SHOWN_MAX)
    .map(({ key, state, repository, branch, commit, pullRequest }) => [
      key,
      STATES[state],
      repository,
      branch,
      commit?.slice(0, COMMIT_CHARACTERS) ?? '-',
      ...(asksPulls ? [pullRequest ?? '-'] : []),
    ]);
  const titles = ['key', 'state', 'repository', 'branch', 'commit', ...(asksPulls ? ['pull request'] : [])];
  const troubles = delivered.filter(({ problem }) => problem !== null);
  return {
    title: 'Branches',
    blocks:
      delivered.length === 0
        ? []
        : [
            text(`${words}.`, failed === 0 && troubles.length === 0 ? 'plain' : 'bad'),
            ...table(titles.map(left), rows),
            ...boundedList(
              troubles,
              ({ key, problem }) => `${key}: ${cut(problem ?? '', PROBLEM_CHARACTERS_MAX)}`,
              { shownMax: PROBLEMS_SHOWN_MAX },
            ),
          ],
  };
}

const STEP_STATES = {
  sent: 'told',
  not_wanted: 'not wanted of a run that ended so',
  failed: 'not told',
} as const satisfies Readonly<Record<LastStepShown['state'], string>>;

/** Without blocks where the job notifies no receiver of the end, or the run has not ended. */
export function lastStepSection({ lastSteps }: ReportData): Section {
  const rows = lastSteps.map(({ step, state, at, problem }) => [
    `notify ${step + 1}`,
    STEP_STATES[state],
    instant(at),
    problem === null ? '-' : cut(problem.message, PROBLEM_CHARACTERS_MAX),
  ]);
  return {
    title: 'Told of the end',
    blocks: table([left('step'), left('how it went'), left('at'), left('why')], rows),
  };
}
