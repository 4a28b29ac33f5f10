/**
 * One collected result, and what a step of collecting gives.
 * Owns the shapes only.
 */
import type { Finding } from './findings.ts';

export interface Collected {
  /** Plain relative path below the item's folder. */
  readonly name: string;
  readonly content: Uint8Array;
  /** The same content before it was packed, when packing would hide a secret from the scan. */
  readonly scanned?: Uint8Array;
}

export interface CollectedStep {
  readonly made: readonly Collected[];
  /** What could not be had. */
  readonly findings: readonly Finding[];
}
