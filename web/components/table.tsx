/**
 * A table of records.
 * Owns its head; the rows, and the frame around it, belong to whoever shows it.
 */
import type { ReactElement, ReactNode } from 'react';

/** A name alone heads texts; figures stand at the right, and a column of buttons is named for screen readers only. */
export type Column = string | { readonly name: string; readonly holds: 'figures' | 'buttons' };

export interface TableProps {
  readonly columns: readonly Column[];
  /** One a record. */
  readonly children: ReactNode;
}

export function Table({ columns, children }: TableProps): ReactElement {
  return (
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
}

function Head({ column }: { readonly column: Column }): ReactElement {
  if (typeof column === 'string') return <th scope="col">{column}</th>;
  if (column.holds === 'figures')
    return (
      <th scope="col" className="number">
        {column.name}
      </th>
    );
  return (
    <th scope="col">
      <span className="hidden">{column.name}</span>
    </th>
  );
}
