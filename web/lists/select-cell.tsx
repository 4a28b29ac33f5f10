/**
 * The box that chooses a row.
 * Owns its name for screen readers.
 */
import type { ReactElement } from 'react';
import type { BulkRow } from './bulk-bar.tsx';
import type { Selection } from './use-selection.ts';

export function SelectCell({
  row: { id, name },
  selection,
}: {
  readonly row: BulkRow;
  readonly selection: Selection;
}): ReactElement {
  return (
    <td>
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        checked={selection.has(id)}
        onChange={({ target }) => selection.set([id], target.checked)}
      />
    </td>
  );
}
