/**
 * The figures of all benches as a table in Markdown, and its place in docs/bench.md.
 * Owns the form; must not measure.
 */
import { rounded, type Figure, type Skipped } from './figure.ts';

const BEGIN = '<!-- figures: npm run bench -- all --write -->';
const END = '<!-- end of the figures -->';
const HEAD = ['| bench | figure | value | aim | reached |', '| --- | --- | --- | --- | --- |'];

/** `command` is what comes behind `npm run bench --`. */
export function figureRow(command: string, one: Figure | Skipped): string {
  if ('skipped' in one) return cells([`\`${command}\``, one.what, `skipped: ${one.skipped}`, '', '']);
  const { what, value, unit, aim } = one;
  const [sign, bound] = aim ?? [];
  const reached =
    sign === undefined || bound === undefined ? '' : yesNo(sign === '≥' ? value >= bound : value <= bound);
  return cells([
    `\`${command}\``,
    what,
    `${rounded(value)} ${unit}`.trim(),
    bound === undefined ? '' : `${sign ?? ''} ${bound.toLocaleString('en-US')}`,
    reached,
  ]);
}

/** `rows` under their head, and above it when, where and of which commit they were measured. */
export function figuresTable(place: string, rows: readonly string[]): string {
  return [`Measured at ${place}.`, '', ...HEAD, ...rows].join('\n');
}

/** The page with this table in place of the one it has. @throws Error when the page has no place for one */
export function pageWith(page: string, table: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from)
    throw new Error(`Cannot write the figures: the page has no "${BEGIN}" before "${END}"`);
  return `${page.slice(0, from)}${BEGIN}\n\n${table}\n\n${page.slice(to)}`;
}

function cells(texts: readonly string[]): string {
  return `| ${texts.map((text) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')).join(' | ')} |`;
}

function yesNo(is: boolean): string {
  return is ? 'yes' : 'no';
}
