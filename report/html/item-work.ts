/**
 * What a row of the table opens to: facts, prompt, answer, changes, check, and where each full text is.
 * Pure; every text of it comes from users, agents or programs, and none becomes markup.
 */
import { escapeMarkup } from '../../core/text/escape-markup.ts';
import { findingWords } from '../../core/run/items/item-evidence.ts';
import { outcomeSentence } from '../../core/run/outcome-words.ts';
import { escapeText } from '../page/page.ts';
import { plainLines } from '../plain-text.ts';
import type { CollectedFile, ReportItem, ShownText } from '../report-data.ts';
import { cut, grouped } from '../report-words.ts';

const REASON_CHARACTERS_MAX = 1_000;
const TAGS_MAX = 20;
/** The collected file that holds the full text. */
const WHOLE = { answer: 'trajectory.zip', changes: 'changes.patch', check: 'verify.log' } as const;

/** `consoleUrl`: the console with a page for its conversation; null for none. */
export function itemWork(item: ReportItem, consoleUrl: string | null): string {
  const { prompt, answer, patch, checkOutput, checkCommand, files } = item;
  const check = checkCommand === null ? 'Check' : `Check: ${checkCommand}`;
  return [
    '<div class="work">',
    facts(item, consoleUrl),
    textPart('Prompt', prompt, null),
    ...(answer === null ? [] : [textPart('Answer', answer, fileOf(files, WHOLE.answer))]),
    ...(patch === null ? [] : [textPart('Changes', patch, fileOf(files, WHOLE.changes), diffLines)]),
    ...(checkOutput === null ? [] : [textPart(check, checkOutput, fileOf(files, WHOLE.check))]),
    '</div>',
  ].join('');
}

function facts(item: ReportItem, consoleUrl: string | null): string {
  const { row, model, agent, tags, spend, findings, scores, files, delivery } = item;
  const told: readonly (readonly [string, string | null])[] = [
    ['outcome', row?.phase === 'ended' ? escapeText(outcomeSentence(row)) : null],
    ['reason', row?.detail == null ? null : escapeText(cut(row.detail, REASON_CHARACTERS_MAX))],
    ['model', escapeText(model)],
    ['agent', agent === undefined ? null : escapeText(agent)],
    ['status', row?.executionStatus == null ? null : escapeText(row.executionStatus)],
    ['tags', tagWords(tags)],
    ['tokens', `${grouped(String(spend.promptTokens))} in, ${grouped(String(spend.completionTokens))} out`],
    [
      'scores',
      listed(scores.map(({ name, value }) => `${name}: ${value === null ? 'none' : String(value)}`)),
    ],
    ['missing', listed(findings.map((one) => cut(findingWords(one), REASON_CHARACTERS_MAX)))],
    ['branch', delivery === null ? null : escapeText(delivery.branch)],
    ['pull request', delivery?.pullRequest == null ? null : escapeText(delivery.pullRequest)],
    [
      'conversation',
      row?.conversationId == null ? null : conversation(row.conversationId, files, consoleUrl),
    ],
    ['sandbox', row?.sandboxId == null ? null : `<code>${escapeText(row.sandboxId)}</code>`],
    ['files', files.length === 0 ? null : files.map(link).join(', ')],
  ];
  const rows = told.flatMap(([name, value]) =>
    value === null || value === '' ? [] : [`<dt>${name}</dt><dd>${value}</dd>`],
  );
  return `<dl class="facts">${rows.join('')}</dl>`;
}

/** Links to the console, where there is one; else to the trajectory beside the report, if it was collected. */
function conversation(id: string, files: readonly CollectedFile[], consoleUrl: string | null): string {
  const href =
    consoleUrl === null
      ? (fileOf(files, WHOLE.answer)?.href ?? null)
      : `${consoleUrl}/conversations/${encodeURIComponent(id)}`;
  const name = `<code>${escapeText(id)}</code>`;
  return href === null ? name : `<a href="${escapeText(href)}">${name}</a>`;
}

function tagWords(tags: Readonly<Record<string, string>>): string | null {
  const all = Object.entries(tags);
  const rest = all.length - TAGS_MAX;
  const words = all.slice(0, TAGS_MAX).map(([name, value]) => `${name}=${value}`);
  return listed(rest > 0 ? [...words, `and ${rest} more`] : words);
}

function listed(words: readonly string[]): string | null {
  return words.length === 0 ? null : escapeText(words.join('; '));
}

const link = ({ name, href }: CollectedFile): string =>
  `<a href="${escapeText(href)}">${escapeText(name)}</a>`;

function fileOf(files: readonly CollectedFile[], name: string): CollectedFile | null {
  return files.find((file) => file.name === name) ?? null;
}

/** `whole` is the file that has the full text. */
function textPart(
  title: string,
  { text, cut: left }: ShownText,
  whole: CollectedFile | null,
  lay: (lines: readonly string[]) => string = plain,
): string {
  const where = whole === null ? '' : `, in ${link(whole)}`;
  const more = left === 0 ? '' : `<p class="quiet">${grouped(String(left))} more characters${where}.</p>`;
  return `<div><h3>${escapeText(title)}</h3><pre>${lay(plainLines(text))}</pre>${more}</div>`;
}

function plain(lines: readonly string[]): string {
  return lines.map(escapeMarkup).join('\n');
}

/** Neighbouring lines of one kind share an element, so that a page of ten thousand changes has fewer elements. */
function diffLines(lines: readonly string[]): string {
  const runs: { readonly kind: string | null; readonly lines: string[] }[] = [];
  for (const line of lines) {
    const kind = kindOf(line);
    const last = runs.at(-1);
    if (last !== undefined && last.kind === kind) last.lines.push(escapeMarkup(line));
    else runs.push({ kind, lines: [escapeMarkup(line)] });
  }
  return runs
    .map(({ kind, lines: same }) => {
      const text = same.join('\n');
      // An element that is a block of its own needs no line end after it.
      return kind === null ? `${text}\n` : `<span class="${kind}">${text}</span>`;
    })
    .join('');
}

function kindOf(line: string): 'diff-added' | 'diff-removed' | 'diff-hunk' | null {
  if (/^(?:diff |index |--- |\+\+\+ |@@)/.test(line)) return 'diff-hunk';
  if (line.startsWith('+')) return 'diff-added';
  return line.startsWith('-') ? 'diff-removed' : null;
}
