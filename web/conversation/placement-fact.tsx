/**
 * Why a conversation is in its sandbox.
 * Owns the asking, once for each sandbox that it is in.
 */
import { useCallback, type ReactElement } from 'react';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';

interface PlacementFactProps {
  readonly id: string;
  readonly sandboxId: string;
}

/** Nothing where nobody decided. */
export function PlacementFact({ id, sandboxId }: PlacementFactProps): ReactElement | null {
  const { client } = useSession();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const placement = await client.getPlacement({ params: { conversation_id: id } }, { signal });
      return { sandboxId, summary: placement?.summary ?? null };
    },
    [client, id, sandboxId],
  );
  const summary = usePolled(ask, null).value?.summary ?? null;
  return summary === null ? null : <span className="below">{summary}</span>;
}
