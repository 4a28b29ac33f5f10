/**
 * What is told of a sandbox of this host, from its record and from a look at what runs.
 * Owns which of the two counts: what runs is up, whatever is wanted, and what is down without being wanted so has
 * crashed. Must not know what a sandbox is made of.
 */
import { asParleyError } from '../../core/parley-error.ts';
import type { CrashCause, RuntimePresence, SandboxAddress } from '../../ports/sandbox-runtime.ts';
import type { Wanted } from './ended-by-record.ts';

/** `unknown`: it is on its way up or down, and only the record can tell now. */
export type Seen =
  | { readonly kind: 'up'; readonly address: SandboxAddress; readonly isFrozen: boolean }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'down'; lastWords(): Promise<{ readonly cause: CrashCause; readonly words: string }> };

/** Never throws: what cannot be read or looked at is unknown. */
export async function presenceByRecord<Record extends Wanted>(
  read: () => Promise<Record | null>,
  look: (record: Record) => Promise<Seen>,
): Promise<RuntimePresence> {
  try {
    const record = await read();
    if (record === null || record.desired === 'destroyed') return { kind: 'gone' };
    const { generation } = record;
    const seen = await look(record);
    if (seen.kind === 'up') {
      const up = { kind: 'up', generation, address: seen.address } as const;
      return seen.isFrozen ? { ...up, isFrozen: true } : up;
    }
    if (record.desired === 'stopped') return { kind: 'stopped', generation };
    if (seen.kind === 'unknown') return seen;
    const { cause, words } = await seen.lastWords();
    return { kind: 'crashed', generation, reason: words, cause };
  } catch (error) {
    return { kind: 'unknown', reason: asParleyError(error).message };
  }
}
