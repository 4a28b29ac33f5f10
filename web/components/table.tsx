/**
 * A table of records.
 * Owns its head, and the frame of one that may be wider than the page; the rows belong to whoever shows it.
 */
import type { ReactElement, ReactNode } from 'react';
import type { ColumnSort } from '../lists/word-sort.ts';

/** A name alone heads texts; figures stand at the right, and a column of buttons is named for screen readers only. */
export type Column =
  | string
  | {
      readonly name: string;
      readonly holds: 'texts' | 'figures' | 'buttons';
      readonly sort?: ColumnSort;
    };

export const figures = (name: string): Column => ({ name, holds: 'figures' });
export const ACTIONS: Column = { name: 'Actions', holds: 'buttons' };

interface TableProps {
  readonly columns: readonly Column[];
  /** With it, the table stands in a frame of its own. */
  readonly label?: string;
  /** One a record. */
  readonly children: ReactNode;
}

export function Table({ columns, label, children }: TableProps): ReactElement {
  const table = (
    <table>
      <thead>
        <tr>
          {columns.map((column) => (
            <Head key={typeof column === 'string' ? column : column.name} column={column} />
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
  return label === undefined ? table : <Scroll label={label}>{table}</Scroll>;
}

/** Keys can scroll it, also where nothing in it can be pressed. */
export function Scroll({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="scroll card" tabIndex={0} role="group" aria-label={label}>
      {children}
    </div>
  );
}

function Head({ column }: { readonly column: Column }): ReactElement {
  if (typeof column === 'string') return <th scope="col">{column}</th>;
  const { name, holds, sort } = column;
  if (holds === 'buttons')
    return (
      <th scope="col">
        <span className="hidden">{name}</span>
      </th>
    );
  return (
    <th
      scope="col"
      className={holds === 'figures' ? 'number' : undefined}
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
