/**
 * An order as a word of the API.
 * Owns what a click on a column asks for next.
 */

/** How a column can be ordered by, as the server does it. */
export interface ColumnSort {
  /** Null: the table is ordered by something else. */
  readonly is: 'ascending' | 'descending' | null;
  onSort(): void;
}

/** Of a column, where an order is a word and `_DESC` behind it turns it round. */
export function wordSort(order: string, by: string, onSort: (order: string) => void): ColumnSort {
  const is = order === by ? 'ascending' : order === `${by}_DESC` ? 'descending' : null;
  // What is new is asked for first.
  return { is, onSort: () => onSort(is === 'descending' ? by : `${by}_DESC`) };
}
