/**
 * One collected result.
 * Owns the shape only.
 */
export interface Collected {
  /** Plain relative path below the item's folder. */
  readonly name: string;
  readonly content: Uint8Array;
  /** The same content before it was packed, when packing would hide a secret from the scan. */
  readonly scanned?: Uint8Array;
}
