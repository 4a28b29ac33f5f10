/**
 * Whether the service is still there, asked while nothing else on a page may ask for minutes.
 * Owns the question; what comes of an answer, or of none, is in outage.ts.
 */
import { useCallback } from 'react';
import { useSession } from '../session/session.ts';
import { usePolled } from './use-polled.ts';

/** A person who writes into a form learns of an outage before it is sent. */
const EVERY_MS = 3_000;

export function useHeartbeat(): void {
  const { client } = useSession();
  const ask = useCallback((signal: AbortSignal) => client.isAlive({}, { signal }), [client]);
  usePolled(ask, EVERY_MS);
}
