/**
 * A table of records, declared by its columns.
 * Owns head and cells, and the frame of one that may be wider than the page.
 */
import { Fragment, type ReactElement, type ReactNode } from 'react';
import type { ColumnSort } from '../lists/word-sort.ts';

export interface Column<Row> {
  readonly name: string;
  /** Its cells name their record. */
  readonly isHead?: boolean;
  /** The name is for screen readers only. */
  readonly isHidden?: boolean;
  /** Of its cells; a `number` stands at the right, and its head with it. */
  readonly className?: string;
  readonly sort?: ColumnSort;
  cell(row: Row, at: number): ReactNode;
}

type Cell<Row> = Column<Row>['cell'];

export function text<Row>(name: string, cell: Cell<Row>, className?: string): Column<Row> {
  return { name, cell, ...(className === undefined ? {} : { className }) };
}

/** The column that names the record. */
export function head<Row>(name: string, cell: Cell<Row>): Column<Row> {
  return { name, cell, isHead: true };
}

export function figures<Row>(name: string, cell: Cell<Row>): Column<Row> {
  return { name, cell, className: 'number' };
}

/** What can be done to a record. */
export function buttons<Row>(cell: Cell<Row>): Column<Row> {
  return { name: 'Actions', cell, isHidden: true, className: 'actions' };
}

export interface TableProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** With it, the table stands in a frame of its own. */
  readonly label?: string;
  keyOf(row: Row, at: number): string | number;
  /** What is opened below a record, over the whole width; null: nothing. */
  below?(row: Row): ReactNode;
}

export function Table<Row>({ columns, rows, label, keyOf, below }: TableProps<Row>): ReactElement {
  const table = (
    <table>
      <thead>
        <tr>
          {columns.map((column, place) => (
            <Head key={place} column={column} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => {
          const opened = below?.(row) ?? null;
          return (
            <Fragment key={keyOf(row, at)}>
              <tr>
                {columns.map(({ isHead, className, cell }, place) =>
                  isHead === true ? (
                    <th key={place} scope="row" className={className}>
                      {cell(row, at)}
                    </th>
                  ) : (
                    <td key={place} className={className}>
                      {cell(row, at)}
                    </td>
                  ),
                )}
              </tr>
              {opened === null ? null : (
                <tr>
                  <td colSpan={columns.length}>{opened}</td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
  if (label === undefined) return table;
  // Keys can scroll it, also where nothing in it can be pressed.
  return (
    <div className="scroll card" tabIndex={0} role="group" aria-label={label}>
      {table}
    </div>
  );
}

function Head<Row>({ column: { name, isHidden, className, sort } }: { readonly column: Column<Row> }) {
  if (isHidden === true)
    return (
      <th scope="col">
        <span className="hidden">{name}</span>
      </th>
    );
  return (
    <th
      scope="col"
      className={className === 'number' ? 'number' : undefined}
      aria-sort={sort === undefined ? undefined : (sort.is ?? 'none')}
    >
      {sort === undefined ? (
        name
      ) : (
        <button type="button" className="sort" onClick={sort.onSort}>
          {name}
          <span aria-hidden="true">{sort.is === null ? '' : sort.is === 'ascending' ? ' ↑' : ' ↓'}</span>
        </button>
      )}
    </th>
  );
}
