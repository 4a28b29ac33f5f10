/**
 * What failed, first on the page: which conversation, how, why, and the last lines of what failed.
 * Pure; owns the markup.
 */
import { escapeMarkup } from '../../core/text/escape-markup.ts';
import { counted } from '../../core/text/counted.ts';
import { FAILURES_SHOWN_MAX, failuresOf, shownReason, type FailedPart, type Failure } from '../failure.ts';
import { escapeText } from '../page/page.ts';
import type { ReportData } from '../report-data.ts';
import { outputMarkup } from './section-markup.ts';

const LAST_OF = {
  check: 'Last lines of the check',
  agent: 'Last words of the agent',
  sandbox: 'Last lines of the sandbox',
} as const satisfies Readonly<Record<FailedPart, string>>;

/** Null when nothing failed. `idOf` gives the row of a key, where it has one. */
export function failureMarkup({ items }: ReportData, idOf: (key: string) => string | null): string | null {
  const failures = failuresOf(items);
  if (failures.length === 0) return null;
  const rest = failures.length - FAILURES_SHOWN_MAX;
  return [
    '<section id="failures">',
    `<h2>What failed <span class="tag">${failures.length}</span></h2>`,
    ...failures.slice(0, FAILURES_SHOWN_MAX).map((one) => card(one, idOf(one.key))),
    ...(rest > 0 ? [`<p class="quiet">And ${counted(rest, 'failure')} more, in the table.</p>`] : []),
    '</section>',
  ].join('\n');
}

function card({ key, outcome, reason, part, lines }: Failure, id: string | null): string {
  const name = id === null ? escapeText(key) : `<a href="#${id}">${escapeText(key)}</a>`;
  return [
    '<article class="card failure">',
    `<h3>${name}</h3>`,
    `<p class="bad">${escapeText(outcome)}</p>`,
    ...(reason === null || reason === ''
      ? []
      : [`<p class="reason">${escapeMarkup(shownReason(reason))}</p>`]),
    ...(lines.length === 0 ? [] : [`<p class="quiet">${LAST_OF[part]}</p>`, outputMarkup(lines)]),
    '</article>',
  ].join('\n');
}
