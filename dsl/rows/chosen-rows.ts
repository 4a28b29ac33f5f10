/**
 * The rows that a conversation is run for.
 * Owns `where`, `limit` and the bound of rows that are read.
 */
import type { Entry } from '../plan/entry.ts';
import { FillFailure } from '../plan/interpolate.ts';
import type { CheckContext } from '../check/check-context.ts';
import { keySpanIn, treeAt } from '../read/tree.ts';
import type { DataFile } from './data-file.ts';
import { rowFinding } from './open-data-files.ts';
import { ROWS_READ_MAX, type Row } from './row.ts';

/** In the order of the file, read while they are taken; what is wrong with one ends them. */
export function* chosenRows(
  { conversation, tree, scope }: Entry,
  { report, inputs }: CheckContext,
): Generator<Row> {
  const { data } = scope;
  const { where, limit = Infinity, allow_empty: mayBeEmpty = false } = conversation.items ?? {};
  if (data === null) return;
  const condition = where === undefined ? null : scope.rows().condition(where);
  const values = Object.fromEntries(inputs.values);
  const span = keySpanIn(tree, 'items');
  let taken = 0;
  let read = 0;
  for (const row of data.rows()) {
    if ('message' in row)
      return row.span === undefined
        ? report.adopt([rowFinding('JOB318', data.file, row)])
        : report.add('JOB305', row.span, row.message, { remedy: row.remedy });
    read += 1;
    if (read > ROWS_READ_MAX)
      return report.add('JOB311', span, `${data.file} has more than ${ROWS_READ_MAX} rows`, {
        remedy: 'split the file',
      });
    const chosen =
      condition?.({ id: conversation.id, repeat: 1, inputs: values, matrix: {}, item: row.fields }) ?? true;
    if (chosen instanceof FillFailure) {
      const place = treeAt(tree, ['items', 'where'])?.span ?? span;
      return report.add('JOB411', place, `this fails for ${rowName(row, data)}: ${chosen.reason}`);
    }
    if (!chosen) continue;
    taken += 1;
    yield row;
    if (taken >= limit) return;
  }
  if (taken > 0 || data.columns === null || data.unasked !== undefined || mayBeEmpty) return;
  if (read === 0 && data.whenEmpty !== undefined)
    return report.add('JOB327', span, data.whenEmpty.message, { remedy: data.whenEmpty.remedy });
  if (read === 0) return report.add('JOB317', span, `${data.file} has a header and no rows`);
  const place = treeAt(tree, ['items', 'where'])?.span ?? span;
  report.add('JOB319', place, `no row of ${data.spoken} meets this condition`, {
    remedy: 'loosen it, or remove the conversation',
  });
}

/** As a finding calls it: `row 17 of repos.csv`, or the file that is the row. */
export function rowName(row: Row, { spoken }: Pick<DataFile, 'spoken'>): string {
  return row.file ?? `row ${row.number} of ${spoken}`;
}
