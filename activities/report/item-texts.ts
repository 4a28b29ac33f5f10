/**
 * What there is to read of the work of one item: prompt, answer, diff, check.
 * Owns the reading; secrets are removed before anything is cut (D20).
 */
import type { RunId } from '../../core/ids.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { PlanItem } from '../../core/plan/plan.ts';
import type { ReportItem, ShownText } from '../../report/report-data.ts';
import { shownText } from '../../report/shown-text.ts';
import { CHECK_LOG } from '../check-log.ts';
import { PATCH_FILE } from '../collect/diff.ts';
import { lastWords } from '../collect/last-words.ts';
import { redactText } from '../redaction.ts';
import type { ReportWorld } from './report-world.ts';

export type ItemTexts = Pick<ReportItem, 'prompt' | 'answer' | 'patch' | 'checkCommand' | 'checkOutput'>;

export interface TextsWanted {
  readonly runId: RunId;
  readonly item: PlanItem;
  /** Null when it was never projected. */
  readonly row: RunItemRow | null;
  /** What is hidden of its secrets. */
  readonly forms: readonly string[];
  /** Of each text. */
  readonly charactersMax: number;
}

/** Of one that has not begun there is the prompt alone. */
export async function itemTexts(world: ReportWorld, wanted: TextsWanted): Promise<ItemTexts> {
  const { item, row, forms, charactersMax } = wanted;
  const shown = (text: string | null, kept?: 'beginning' | 'end'): ShownText | null =>
    text === null ? null : shownText(redactText(text, forms), charactersMax, kept);
  const prompt = shownText(redactText(item.prompt, forms), charactersMax);
  const command = item.verify?.command ?? null;
  const checkCommand = command === null ? null : redactText(command, forms);
  if (row === null || row.attempt === 0)
    return { prompt, answer: null, patch: null, checkCommand, checkOutput: null };
  return {
    prompt,
    answer: row.conversationId === null ? null : shown(await lastWords(world, row.conversationId)),
    patch: shown(await fileText(world, wanted, PATCH_FILE)),
    checkCommand,
    checkOutput: shown(await fileText(world, wanted, CHECK_LOG), 'end'),
  };
}

async function fileText(
  { results }: Pick<ReportWorld, 'results'>,
  { runId, item }: TextsWanted,
  name: string,
): Promise<string | null> {
  const content = await results.read({ runId, key: item.key, name });
  return content === null ? null : new TextDecoder().decode(content);
}
