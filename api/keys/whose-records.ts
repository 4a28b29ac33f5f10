/**
 * Whose records a caller sees where an administrator sees everybody's (D4, D5).
 * Owns that one rule; where even an administrator sees its own alone, nobody asks here.
 */
import type { UserId } from '../../core/ids.ts';
import type { Principal } from '../application/application.ts';

/** Null: everybody's. */
export function whoseRecords({ scope, userId }: Pick<Principal, 'scope' | 'userId'>): UserId | null {
  return scope === 'admin' ? null : userId;
}
