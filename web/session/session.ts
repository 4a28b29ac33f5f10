/**
 * Who is signed in, for every part of the console.
 * Owns the shape and how it is reached; must not sign a user in.
 */
import { createContext, useContext } from 'react';
import { type Client, createClient, type ResultOf } from '../../api/client/client.ts';

export type CurrentUser = ResultOf<'get_current_user'>;

export interface Session {
  readonly client: Client;
  readonly user: CurrentUser;
  /** Forgets the key; the sentence says why, when it was not the user's wish. */
  signOut(reason?: string): void;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('Cannot ask the API: nobody is signed in');
  return session;
}

export function clientWith(key: string): Client {
  return createClient({ url: globalThis.location.origin, key });
}
