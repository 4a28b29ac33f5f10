/**
 * Which collected files of an item there are to link to.
 * Owns the names that collecting gives; a link is made only for a file that exists.
 */
import type { CollectStep } from '../../core/plan/plan.ts';
import { CHECK_LOG } from '../check-log.ts';
import { FINDINGS_FILE } from '../collect/findings.ts';
import { SCORES_FILE } from '../score-file.ts';
import type { CollectedFile } from '../../report/report-data.ts';

/** Literal names among the globs of one item; more of them are found in the folder. */
const NAMES_MAX = 50;

/** A run of ten thousand has some fifty thousand; what is beyond is collected and has no link. */
export const COLLECTED_FILES_MAX = 1_000_000;

/** `present`: every file of the run, as a path below its folder. */
export function collectedFiles(
  { key, steps }: { readonly key: string; readonly steps: readonly CollectStep[] },
  present: ReadonlySet<string>,
): readonly CollectedFile[] {
  return namesOf(steps)
    .filter((name) => present.has(`${key}/${name}`))
    .map((name) => ({ name, href: relativeLink(`${key}/${name}`) }));
}

function namesOf(steps: readonly CollectStep[]): readonly string[] {
  return [...new Set([...steps.flatMap(namesOfStep), CHECK_LOG, SCORES_FILE, FINDINGS_FILE])].slice(
    0,
    NAMES_MAX,
  );
}

function namesOfStep(step: CollectStep): readonly string[] {
  switch (step.kind) {
    case 'trajectory':
      return ['trajectory.zip'];
    case 'usage':
      return ['usage.json'];
    case 'diff':
      return ['changes.patch', 'base-commit.txt'];
    case 'files':
      return step.globs.filter((glob) => !/[*?[\]{}]/.test(glob)).map((name) => `files/${name}`);
  }
}

/** Every part encoded, so that no name ends a link or leaves the run's folder; parentheses would end one in Markdown. */
export function relativeLink(path: string): string {
  const encoded = path
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll(/[()'!*]/g, percentEncoded));
  return `./${encoded.join('/')}`;
}

const percentEncoded = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
