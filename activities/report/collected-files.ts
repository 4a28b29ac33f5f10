/**
 * Which collected files of an item there are to link to.
 * Owns the names that collecting gives; a link is made only for a file that exists.
 */
import type { RunId } from '../../core/ids.ts';
import type { CollectStep } from '../../core/plan/plan.ts';
import { CHECK_LOG } from '../check-log.ts';
import { FINDINGS_FILE } from '../collect/findings.ts';
import { SCORES_FILE } from '../score-file.ts';
import type { ReportWorld as World } from './report-world.ts';
import type { CollectedFile } from '../../report/report-data.ts';

/** Literal names among the globs of one item; more of them are found in the folder. */
const NAMES_MAX = 50;

export async function collectedFiles(
  world: World,
  item: { readonly runId: RunId; readonly key: string; readonly steps: readonly CollectStep[] },
): Promise<readonly CollectedFile[]> {
  const found: CollectedFile[] = [];
  for (const name of namesOf(item.steps)) {
    const content = await world.results.read({ runId: item.runId, key: item.key, name });
    if (content !== null) found.push({ name, href: relativeLink(`${item.key}/${name}`) });
  }
  return found;
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
