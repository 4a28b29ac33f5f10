/**
 * Where a start stands while it waits for a free slot.
 * Owns the asking: only a start that has no place yet is asked for.
 */
import { useCallback, type ReactElement } from 'react';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';

/** Nothing where it does not wait. */
export function StartPosition({ id }: { readonly id: string }): ReactElement | null {
  const { client } = useSession();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const { items } = await client.searchStartTasks(
        { query: { conversation_id__eq: id, limit: 1 } },
        { signal },
      );
      return { position: items[0]?.queue_position ?? null };
    },
    [client, id],
  );
  const position = usePolled(ask).value?.position ?? null;
  return position === null ? null : (
    <span className="below">waits for a sandbox, number {position} in the queue</span>
  );
}
