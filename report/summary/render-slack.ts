/**
 * The summary of a report as the body of a message to Slack: blocks, and a text for notifications.
 * Pure; owns the escaping and Slack's bounds: nothing that others wrote becomes markup, a link or a mention.
 */
import { counted } from '../../core/text/counted.ts';
import type { ReportData } from '../report-data.ts';
import { oneLine, plainLine } from '../plain-text.ts';
import { cut } from '../report-words.ts';
import { summaryOf, type SummaryLine } from './summary.ts';

/** Of one text of a section, and of a message: Slack refuses more. */
const SECTION_CHARACTERS_MAX = 3_000;
const HEADER_CHARACTERS_MAX = 150;
/** Slack takes 50; a channel wants to be read by others, too. */
const TROUBLE_SHOWN_MAX = 15;
const CHECKS_SHOWN_MAX = 3;
const CHECK_LINES_MAX = 10;
const REQUESTS_SHOWN_MAX = 15;
const KEY_CHARACTERS_MAX = 120;
const REASON_CHARACTERS_MAX = 150;

type SlackBlock =
  | {
      readonly type: 'header';
      readonly text: { readonly type: 'plain_text'; readonly text: string; readonly emoji: false };
    }
  | { readonly type: 'section'; readonly text: Mrkdwn }
  | { readonly type: 'context'; readonly elements: readonly Mrkdwn[] };

/** `verbatim`: nothing in it is looked for to be made a link or a mention. */
interface Mrkdwn {
  readonly type: 'mrkdwn';
  readonly text: string;
  readonly verbatim: true;
}

export interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly SlackBlock[];
}

/** For a channel of Slack. */
export function renderSlack(data: ReportData): string {
  return `${JSON.stringify(slackMessage(data))}\n`;
}

export function slackMessage(data: ReportData): SlackMessage {
  const { job, run, work, money, counts, facts, lines, trouble, checks, findings } = summaryOf(data);
  const title = `${oneLine(job)}: ${work.words}`;
  const requests = lines.filter(({ pullRequest }) => pullRequest !== null);
  const blocks: readonly SlackBlock[] = [
    header(`${work.tone === 'good' ? '✅' : '❌'} ${title}`),
    ...section([escape([...counts, ...facts].join(' · '))]),
    ...(money === null ? [] : section([escape(money.words)])),
    ...section(
      bounded(lines.slice(0, trouble), { shownMax: TROUBLE_SHOWN_MAX, noun: 'conversation' }, troubleLine),
    ),
    ...checks.slice(0, CHECKS_SHOWN_MAX).flatMap(({ key, lines: output }) => checkSection(key, output)),
    ...section(bounded(requests, { shownMax: REQUESTS_SHOWN_MAX, noun: 'pull request' }, requestLine)),
    ...(findings.length === 0 ? [] : section([`${counted(findings.length, 'result')} missing or withheld`])),
    { type: 'context', elements: [mrkdwn(`run ${code(run)}`)] },
  ];
  return { text: literal(title), blocks };
}

function header(text: string): SlackBlock {
  return {
    type: 'header',
    text: { type: 'plain_text', text: cut(text, HEADER_CHARACTERS_MAX), emoji: false },
  };
}

/** None without lines; a line that does not fit any more is left out, with all that follow it. */
function section(lines: readonly string[]): readonly SlackBlock[] {
  let text = '';
  for (const line of lines) {
    const longer = text === '' ? line : `${text}\n${line}`;
    if (longer.length > SECTION_CHARACTERS_MAX) break;
    text = longer;
  }
  return text === '' ? [] : [{ type: 'section', text: mrkdwn(text) }];
}

function mrkdwn(text: string): Mrkdwn {
  return { type: 'mrkdwn', text, verbatim: true };
}

/** The rest is counted, and the count always has its place. */
function bounded<Entry>(
  entries: readonly Entry[],
  { shownMax, noun }: { readonly shownMax: number; readonly noun: string },
  words: (entry: Entry) => string,
): readonly string[] {
  const shown: string[] = [];
  let length = 0;
  for (const line of entries.slice(0, shownMax).map(words)) {
    length += line.length + 1;
    if (length > SECTION_CHARACTERS_MAX - REASON_CHARACTERS_MAX) break;
    shown.push(line);
  }
  const rest = entries.length - shown.length;
  return rest === 0 ? shown : [...shown, `and ${counted(rest, `more ${noun}`)}`];
}

function troubleLine({ key, state, reason, tone }: SummaryLine): string {
  const why = reason === '' ? '' : `: ${code(cut(oneLine(reason), REASON_CHARACTERS_MAX))}`;
  return `${tone === 'bad' ? '❌' : '•'} ${name(key)} ${escape(state)}${why}`;
}

function requestLine({ key, pullRequest }: SummaryLine): string {
  const address = escape(pullRequest ?? '').replaceAll('|', '%7C');
  return `<${address}|${escape(cut(oneLine(key), KEY_CHARACTERS_MAX)).replaceAll('|', '/')}>`;
}

function checkSection(key: string, output: readonly string[]): readonly SlackBlock[] {
  const lines = output
    .slice(-CHECK_LINES_MAX)
    .map((line) => literal(plainLine(cut(line, REASON_CHARACTERS_MAX))));
  const head = `The check of ${name(key)} ended with`;
  const fence = '```';
  // The last lines say most, and the fence has to be closed.
  const room = SECTION_CHARACTERS_MAX - head.length - 2 * fence.length - 4;
  const shown: string[] = [];
  let length = 0;
  for (const line of lines.toReversed()) {
    length += line.length + 1;
    if (length > room) break;
    shown.unshift(line);
  }
  return [{ type: 'section', text: mrkdwn(`${head}\n${fence}\n${shown.join('\n')}\n${fence}`) }];
}

const name = (key: string): string => code(cut(key, KEY_CHARACTERS_MAX));

/** Between backticks nothing is markup but a backtick, which has no escape. */
function code(text: string): string {
  const inside = literal(oneLine(text));
  return inside === '' ? '' : `\`${inside}\``;
}

const literal = (text: string): string => escape(text).replaceAll('`', "'");

/** As Slack wants it: these three, and no other. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
