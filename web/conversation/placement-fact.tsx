/**
 * Why a conversation is in its sandbox.
 * Owns the asking, once for each sandbox that it is in.
 */
import { useCallback, type ReactElement } from 'react';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import { labelOf } from '../text/words.ts';

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
      return { sandboxId, placement };
    },
    [client, id, sandboxId],
  );
  const placement = usePolled(ask, null).value?.placement ?? null;
  if (placement === null) return null;
  const { summary, seen } = placement;
  if (seen.length === 0) return <span className="below">{summary}</span>;
  return (
    <details className="seen">
      <summary>{summary}</summary>
      <ul>
        {seen.map(({ sandbox_id: one, why }) => (
          <li key={one}>
            <code>{one.slice(0, 8)}</code> {labelOf(why)}
          </li>
        ))}
      </ul>
    </details>
  );
}
