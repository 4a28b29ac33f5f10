/**
 * What is said to people of a configuration that changed while the process runs.
 * Owns the sentences of a host; the proxy as a process of its own has a log with levels instead.
 */
import { printProblem } from '../config/problem.ts';
import type { FollowNews } from './followed-configuration.ts';

/** None for a change that changes nothing that is read, such as a comment. */
export function followLines(file: string, news: FollowNews): readonly string[] {
  switch (news.kind) {
    case 'refused':
      return [
        ...news.problems.map((problem) => printProblem(problem).trimEnd()),
        `Cannot take up the changed configuration "${file}": it has errors; the earlier one stays in force`,
      ];
    case 'taken': {
      const { applied, needsRestart, warnings, isMended } = news;
      return [
        ...(isMended ? ['the configuration has no errors any more'] : []),
        ...warnings.map((problem) => printProblem(problem).trimEnd()),
        ...(applied.length === 0
          ? []
          : [`the changed configuration holds from now on: ${applied.join(', ')}`]),
        ...(needsRestart.length === 0 ? [] : [`these hold after the next start: ${needsRestart.join(', ')}`]),
      ];
    }
  }
}
