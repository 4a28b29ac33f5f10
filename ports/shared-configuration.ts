/**
 * The part of a deployment's configuration that all processes over one database have in common, one version after another.
 * Owns the interface; what a version may hold, and which process can take it, is decided where it is read.
 */

/** What was in force between two changes; its number and text never change. */
export interface ConfigurationVersion {
  /** Counts from 1. */
  readonly version: number;
  /** YAML with keys of `parley.yaml`; a secret only as the name of a variable (D20). */
  readonly text: string;
}

/** How a process stands to it. */
export interface ConfigurationStanding {
  /** That is in force there; null: what its file says. */
  readonly version: number | null;
  /** Why a later one is not, for people; null when it has the latest. */
  readonly refused: string | null;
}

/** The versions as the store keeps them: the newest hundred. */
export interface SharedConfiguration {
  /** The newest, or the newest below another; null when there is none. @throws ParleyError store_unavailable */
  newest(below?: number): Promise<ConfigurationVersion | null>;
  /** False when `next.version - 1` is not the newest: another put was first. @throws ParleyError store_unavailable */
  put(next: ConfigurationVersion, at: number): Promise<boolean>;
}
