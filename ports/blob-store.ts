/**
 * Large things: archives and collected results.
 * Owns the interface. Keys are relative paths of `[A-Za-z0-9._/-]` without `..`.
 */
export interface BlobStore {
  /** Durable when it returns: written aside, synced, renamed. Returns size and SHA-256 of what was written. */
  put(
    key: string,
    content: AsyncIterable<Uint8Array> | Uint8Array,
  ): Promise<{ readonly bytes: number; readonly sha256: string }>;
  /** Null when there is no such blob. */
  get(key: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Removing what does not exist is success. */
  remove(key: string): Promise<void>;
}
