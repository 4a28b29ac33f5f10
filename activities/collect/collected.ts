/**
 * One collected result, and what a step of collecting gives.
 * Owns the shapes, and how one is kept: what holds the value of a secret is not (D20).
 */
import type { RunId } from '../../core/ids.ts';
import type { Finding } from '../../core/run/items/item-evidence.ts';
import { containsSecret } from '../redaction.ts';
import type { World } from '../world.ts';

export interface Collected {
  /** Plain relative path below the item's folder. */
  readonly name: string;
  /**
   * All of it; or, where a sandbox decided how much it is, the pieces as they are made. `scan` is shown each piece before
   * it is packed, because packing would hide a secret, and throws for one.
   */
  readonly content: Uint8Array | ((scan: (bytes: Uint8Array) => void) => AsyncIterable<Uint8Array>);
}

export interface CollectedStep {
  readonly made: readonly Collected[];
  /** What could not be had. */
  readonly findings: readonly Finding[];
}

export interface KeptAs {
  readonly runId: RunId;
  readonly key: string;
  /** What no result may hold. */
  readonly forms: readonly string[];
}

/** False when it holds the value of a secret; then nothing of it was kept. @throws ParleyError as `Results.write` */
export async function keepResult(
  world: Pick<World, 'results'>,
  { name, content }: Collected,
  { runId, key, forms }: KeptAs,
): Promise<boolean> {
  if (containsSecret(new TextEncoder().encode(name), forms)) return false;
  let isSecret = false;
  const scan = (bytes: Uint8Array): void => {
    isSecret ||= containsSecret(bytes, forms);
    if (isSecret) throw new Error('Cannot keep the result: it holds the value of a secret');
  };
  try {
    if (typeof content !== 'function') scan(content);
    await world.results.write({ runId, key, name }, typeof content === 'function' ? content(scan) : content);
    return true;
  } catch (error) {
    if (isSecret) return false;
    throw error;
  }
}
