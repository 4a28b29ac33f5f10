/**
 * The deployment's configuration as an administrator sees and changes it while the service runs.
 * Owns the interface; the outermost shell, which reads the file at the start, carries it out.
 */
/** What the admin page shows as fields; each stands for one key of the file. */
export interface ConfigurationFields {
  /** Seconds; 0 for never (D10). */
  readonly idleTime: number;
  readonly deletionTime: number;
  readonly forwardsClientHeaders: boolean;
  readonly llmProvider: string;
  /** As written: references stay references. */
  readonly customHeaders: Readonly<Record<string, string>>;
}

/** The configuration as it is now. */
export interface ConfigurationState {
  /** Absolute; the file need not exist yet. */
  readonly path: string;
  readonly text: string;
  /** Names this text: a change that rests on another one is refused. */
  readonly revision: string;
  readonly fields: ConfigurationFields;
  /** Keys that a variable of the environment decides, whatever the file says. */
  readonly overridden: readonly string[];
  /** Keys of the file that the running service does not follow before it starts again. */
  readonly needsRestart: readonly string[];
  /** Why the text, or a part of it, does not hold, when it should. */
  readonly warnings: readonly string[];
}

/** As a mistake in a request is told (D4): the place is the field, then line and column where they are known. */
export interface ConfigurationFinding {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** What somebody wants of the file: another text, or other values of some fields. */
export type ConfigurationChange =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'fields'; readonly fields: Partial<ConfigurationFields> };

/** What came of a change. */
export type ConfigurationOutcome =
  | {
      readonly kind: 'deployed';
      readonly state: ConfigurationState;
      /** Keys that hold from now on. */
      readonly applied: readonly string[];
      /** What the check of the text says besides. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'refused'; readonly findings: readonly ConfigurationFinding[] }
  /** Somebody else was faster. */
  | { readonly kind: 'outdated' };

/** Reads and changes the configuration of the deployment that serves the API. */
export interface ConfigurationDesk {
  /** @throws ParleyError store_unavailable when the file cannot be read */
  state(): Promise<ConfigurationState>;
  /**
   * Checked as at the start, written whole or not at all, with the text before it kept beside it; then what can be
   * changed in a running service is. One change at a time.
   * @throws ParleyError store_unavailable when the file cannot be written
   */
  change(revision: string, change: ConfigurationChange): Promise<ConfigurationOutcome>;
}
