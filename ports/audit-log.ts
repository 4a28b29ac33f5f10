/**
 * Who changed what, and with which outcome.
 * Owns the interface; an entry holds names and ids, and never a value of a secret (D20).
 */
export interface AuditEntry {
  readonly at: number;
  /** Null when no user was recognised. */
  readonly userId: string | null;
  readonly keyId: number | null;
  /** Name of the operation. */
  readonly action: string;
  /** What it was about: the parameters of the path. */
  readonly about: string;
  /** Status of the answer. */
  readonly status: number;
}

/** Every field narrows; instants are epoch milliseconds, `from` inclusive and `until` exclusive. */
export interface AuditFilter {
  readonly userId?: string;
  readonly action?: string;
  /** Anywhere in what it was about; letters of ASCII match in either case. */
  readonly aboutContains?: string;
  readonly from?: number;
  readonly until?: number;
  /** What was refused or failed, or what was done. */
  readonly outcome?: 'done' | 'refused';
}

/** Appended to by each change, and read by administrators. */
export interface AuditLog {
  append(entry: AuditEntry): Promise<void>;
  /** Newest first; `before` is the position of the last entry of the page before. `limit` 1..101. */
  entries(page: {
    readonly before: number | null;
    readonly limit: number;
    readonly filter?: AuditFilter;
  }): Promise<readonly (AuditEntry & { readonly position: number })[]>;
}
