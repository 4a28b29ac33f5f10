/**
 * A scenario file with the job that it names, compiled.
 * Owns access to the disk; what the text says is the compiler's business.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import type { JobSource } from '../../dsl/read/decode-source.ts';
import { printDiagnostics } from '../../dsl/check/print-diagnostics.ts';
import { compileScenario, type ScenarioCompilation } from '../../dsl/scenario/compile-scenario.ts';
import type { ScenarioWorld } from '../../dsl/scenario/scenario-world.ts';
import type { Scenario } from '../../dsl/scenario/scenario.ts';
import type { FileProblem } from '../../dsl/world.ts';
import { FAULT_NAMES } from '../../simulator/faults/catalogue.ts';
import { CliError } from '../../host/cli-error.ts';
import { jobWorld, readJobFile, shownText } from '../../host/job/job-file.ts';
import { listedModels } from '../../host/job/listed-models.ts';
import type { Shell } from '../../host/shell.ts';

export interface LoadedScenario {
  /** As it was named. */
  readonly file: string;
  /** The file itself, for excerpts. */
  readonly text: string;
  /** Null when it, or its job, has errors. */
  readonly scenario: Scenario | null;
}

export interface ScenarioFile {
  readonly file: string;
  /** Value of `--config`. */
  readonly config: string | undefined;
}

/** A scenario with what is to be said about it. */
export interface ReadScenario extends LoadedScenario {
  /** Findings as they are printed; empty when there are none. */
  readonly findings: string;
}

/** @throws CliError when there is no file to read */
export function loadScenario(shell: Shell, place: ScenarioFile): LoadedScenario {
  const { findings, ...loaded } = readScenario(shell, place);
  shell.stderr.write(findings);
  return loaded;
}

/** Prints nothing. @throws CliError when there is no file to read */
export function readScenario(shell: Shell, { file, config }: ScenarioFile): ReadScenario {
  const bytes = readJobFile(file, shell.cwd);
  const text = shownText(bytes);
  const texts = new Map([[file, text]]);
  const source = { path: file, text: bytes };
  const { models } = listedModels(shell, config);
  const { scenario, diagnostics } = compileScenarioFile(shell, { source, models, texts });
  return { file, text, scenario, findings: printDiagnostics(diagnostics, texts, { format: 'pretty' }) };
}

interface ScenarioSource {
  readonly source: JobSource;
  readonly models: readonly string[] | null;
  /** Gets the text of the job that the scenario names, under its path. */
  readonly texts: Map<string, string>;
}

/** The scenario with the job that it names; prints nothing. */
export function compileScenarioFile(
  shell: Shell,
  { source, models, texts }: ScenarioSource,
): ScenarioCompilation {
  const compilation = compileScenario(source, scenarioWorld(shell, source.path, models));
  const { job } = compilation;
  if (job !== null) texts.set(job.path, shownText(job.text));
  return compilation;
}

/** A scenario plays a plan, so every input of its job needs a value. */
const NO_INPUTS = { typed: {}, values: {} };

/** Paths are relative to the scenario; secrets are not read, because nothing is run. */
function scenarioWorld(shell: Shell, file: string, models: readonly string[] | null): ScenarioWorld {
  return {
    faults: FAULT_NAMES,
    readJob(relativePath) {
      const jobFile = path.join(path.dirname(file), relativePath);
      try {
        const bytes = readJobFile(jobFile, shell.cwd);
        const world = jobWorld({ shell, file: jobFile, models, checksSecrets: false, inputs: NO_INPUTS });
        return { source: { path: jobFile, text: bytes }, world };
      } catch (error) {
        if (error instanceof CliError) return { problem: problemOf(path.resolve(shell.cwd, jobFile)) };
        throw error;
      }
    },
  };
}

/** Why a file could not be read, as far as it can be found out. */
function problemOf(absolute: string): FileProblem {
  try {
    return statSync(absolute).isDirectory() ? 'directory' : 'too_large';
  } catch {
    return 'missing';
  }
}
