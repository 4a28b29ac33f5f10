/**
 * What can be done to several sandboxes at once.
 * Owns what is said before; what a state does not take is refused by the API, row by row.
 */
import type { Client } from '../../api/client/client.ts';
import type { BulkAction, BulkRow } from '../lists/bulk-bar.tsx';

export interface SandboxRow extends BulkRow {
  readonly status: string;
}

export function sandboxActions(client: Client): readonly BulkAction<SandboxRow>[] {
  const of = ({ id }: SandboxRow) => ({ params: { sandbox_id: id } });
  const refusal = ({ status }: SandboxRow): string | null => (status === 'MISSING' ? 'it is gone' : null);
  return [
    {
      name: 'Stop',
      warning: 'Every agent in them stops; files and transcripts are kept, and the next access resumes them.',
      refusal,
      run: (row) => client.pauseSandbox(of(row)),
    },
    { name: 'Resume', refusal, run: (row) => client.resumeSandbox(of(row)) },
    {
      name: 'Delete',
      warning:
        'Their workspaces are archived and removed for good, and the conversations in them become read-only.',
      refusal,
      run: (row) => client.deleteSandbox(of(row)),
    },
  ];
}
