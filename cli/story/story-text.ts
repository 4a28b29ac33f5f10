/**
 * The story of one conversation as a page for a terminal, and as a record.
 * Owns layout, bounds of what is shown, and what is to be typed next; whatever others wrote is made harmless.
 */
import { outcomeSentence } from '../../core/run/outcome-words.ts';
import { itemState } from '../../core/run/run-words.ts';
import { endedWell } from '../../core/status.ts';
import { duration, instant, usd } from '../../core/text/amounts.ts';
import { counted } from '../../core/text/counted.ts';
import { findingWords } from '../../core/run/items/item-evidence.ts';
import { itemRecord, type JsonRecord } from '../../host/records.ts';
import { cut, printable } from '../../host/terminal-text.ts';
import { deliveryRecord } from '../print/deliveries.ts';
import type { ItemStory } from './item-story.ts';

export interface StoryLayout {
  /** How the program is called, for what is to be typed next. */
  readonly parley: string;
  /** True shows prompt, answer and diff to their ends. */
  readonly isFull: boolean;
}

/** So much of each is on a screen; the rest is counted. */
const LINES_MAX = { prompt: 20, answer: 60, diff: 80 } as const;
const FILES_SHOWN_MAX = 30;
const FACT_WIDTH = 200;
const REASON_WIDTH = 2_000;
const LABEL_WIDTH = 13;

export function storyText(story: ItemStory, layout: StoryLayout): string {
  const { row, planned, answer } = story;
  const blocks = [
    [`${cut(row.key, FACT_WIDTH)}: ${itemState(row)}`, `${outcomeSentence(row)}.`, ...reasonLines(story)],
    factLines(story),
    textLines('prompt', planned?.prompt ?? null, { linesMax: LINES_MAX.prompt, ...layout }),
    textLines('answer', answer, { linesMax: LINES_MAX.answer, ...layout }),
    checkLines(story),
    diffLines(story, layout),
    fileLines(story),
    nextLines(story, layout).map((line) => `next: ${line}`),
  ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`;
}

function reasonLines({ row }: ItemStory): readonly string[] {
  const reason = row.detail ?? row.waitsFor ?? null;
  return reason === null ? [] : [cut(reason.replaceAll(/\s+/g, ' '), REASON_WIDTH)];
}

function factLines({ run, row, planned, delivery }: ItemStory): readonly string[] {
  const tags = Object.entries({ ...planned?.matrix, ...planned?.tags }).map(
    ([name, value]) => `${name}=${value}`,
  );
  const took = row.admittedAt === null || row.endedAt === null ? null : row.endedAt - row.admittedAt;
  const facts: readonly (readonly [string, string | null])[] = [
    ['run', `${run.runId} (${run.name})`],
    ['model', planned?.model ?? null],
    ['agent', planned?.agent?.name ?? null],
    ['repository', planned?.repository?.name ?? null],
    ['issue', planned?.issue?.url ?? null],
    ['tags', tags.length === 0 ? null : tags.join(', ')],
    ['attempts', String(row.attempt)],
    ['cost', usd(row.costNanoUsd)],
    ['began', row.admittedAt === null ? null : instant(row.admittedAt)],
    [
      'ended',
      row.endedAt === null ? null : `${instant(row.endedAt)}${took === null ? '' : ` (${duration(took)})`}`,
    ],
    ['conversation', row.conversationId],
    ['sandbox', row.sandboxId === null ? null : `${row.sandboxId} (${row.sandboxStatus ?? 'unknown'})`],
    ['branch', delivery === null ? null : `${delivery.branch} (${delivery.state})`],
    ['pull request', delivery?.pullRequest?.url ?? null],
    [
      'not pushed',
      delivery?.problem == null ? null : `${delivery.problem.code}: ${delivery.problem.message}`,
    ],
  ];
  return facts.flatMap(([name, value]) =>
    value === null ? [] : [`${name.padEnd(LABEL_WIDTH)} ${cut(value.replaceAll(/\s+/g, ' '), FACT_WIDTH)}`],
  );
}

interface Shown extends StoryLayout {
  readonly linesMax: number;
}

/** Indented, so that no line of it is taken for one of ours. */
function textLines(title: string, text: string | null, { linesMax, isFull }: Shown): readonly string[] {
  if (text === null || text.trim() === '') return [];
  const lines = printable(text.replaceAll('\r\n', '\n').trimEnd()).split('\n');
  const shown = isFull ? lines : lines.slice(0, linesMax);
  const rest = lines.length - shown.length;
  return [
    `${title}:`,
    ...shown.map((line) => `  | ${line}`.trimEnd()),
    ...(rest === 0 ? [] : [`  and ${counted(rest, 'more line')}; --full shows all`]),
  ];
}

function checkLines({ evidence: { check, findings } }: ItemStory): readonly string[] {
  return [
    ...(check.length === 0
      ? []
      : [
          'the check ended with:',
          ...check.map((line) => `  | ${cut(line.replaceAll('\r', ' '), FACT_WIDTH)}`),
        ]),
    ...(findings.length === 0
      ? []
      : ['not in the results:', ...findings.map((finding) => `  ${cut(findingWords(finding), FACT_WIDTH)}`)]),
  ];
}

function diffLines({ diff }: ItemStory, layout: StoryLayout): readonly string[] {
  if (diff === null) return [];
  if (diff.bytes === 0) return ['diff: it changed no file'];
  const isCut = Buffer.byteLength(diff.text) < diff.bytes;
  return [
    ...textLines('diff', diff.text, { linesMax: LINES_MAX.diff, ...layout }),
    ...(isCut && layout.isFull ? [`  and more; the whole of it is in ${diff.file}`] : []),
  ];
}

function fileLines({ files, folder, hasMoreFiles }: ItemStory): readonly string[] {
  if (files.length === 0) return [`files: none in ${folder}`];
  const shown = files.slice(0, FILES_SHOWN_MAX);
  const rest = files.length - shown.length;
  return [
    `files in ${folder}:`,
    ...shown.map(({ name, bytes }) => `  ${cut(name, FACT_WIDTH)}  ${counted(bytes, 'byte')}`),
    ...(rest === 0 && !hasMoreFiles ? [] : [`  and ${rest}${hasMoreFiles ? ' or more' : ''} others`]),
  ];
}

/** Commands that go on from here, the likeliest first. */
export function nextLines(
  { run, row, diff, evidence }: ItemStory,
  { parley }: Pick<StoryLayout, 'parley'>,
): readonly string[] {
  const about = `${run.runId} ${row.key}`;
  if (row.phase !== 'ended') return [`${parley} logs ${about} -f`];
  const logs = `${parley} logs ${about}`;
  const isLost = evidence.findings.some(({ code }) => code === 'secret');
  if (!endedWell(row.outcome))
    return row.outcome === 'skipped'
      ? [`${parley} show ${run.runId} --failed`]
      : [logs, again({ run, row }, parley)];
  if (isLost) return [logs];
  return diff !== null && diff.bytes > 0 ? [`${parley} apply ${about} --check`] : [];
}

/** Takes it up once more: in the run where that can be, else in one of its own. */
function again({ run, row }: Pick<ItemStory, 'run' | 'row'>, parley: string): string {
  if (run.phase !== 'finished') return `${parley} ctl ${run.runId} requeue ${row.key}`;
  if (row.outcome === 'failed' && row.failureClass !== null)
    return `${parley} resume ${run.runId} --class ${row.failureClass}`;
  return `${parley} run FILE --only "${row.key}"`;
}

/** Everything of it, in one record; amounts and instants as in every record. */
export function storyRecord(story: ItemStory, { parley }: Pick<StoryLayout, 'parley'>): JsonRecord {
  const { row, planned, answer, evidence, delivery, diff, files, hasMoreFiles, folder } = story;
  return {
    ...itemRecord(row, planned?.tags),
    type: 'story',
    says: outcomeSentence(row),
    prompt: planned?.prompt ?? null,
    model: planned?.model ?? null,
    agent: planned?.agent?.name ?? null,
    repository: planned?.repository?.name ?? null,
    matrix: planned?.matrix ?? {},
    answer,
    check: evidence.check,
    findings: evidence.findings,
    delivery: delivery === null ? null : deliveryRecord(delivery),
    diff: diff === null ? null : { ...diff, whole: Buffer.byteLength(diff.text) >= diff.bytes },
    results: folder,
    files,
    more_files: hasMoreFiles,
    next: nextLines(story, { parley }),
  };
}
