/**
 * What the compiler of scenarios may ask about the world beside the file.
 * Owns the interface; must not hold an implementation.
 */
import type { JobSource } from '../read/decode-source.ts';
import type { FileProblem, JobWorld } from '../world.ts';

export interface ScenarioJob {
  readonly source: JobSource;
  /** The world as that job sees it: its prompts are relative to it. */
  readonly world: JobWorld;
}

/** Everything that the compiler of scenarios asks of the world. */
export interface ScenarioWorld {
  /** Reads the job file by its path relative to the scenario file. Must not throw. */
  readJob(relativePath: string): ScenarioJob | { readonly problem: FileProblem };
  /** Names of every kind of fault that can be played. */
  readonly faults: readonly string[];
}
