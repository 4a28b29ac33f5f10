/**
 * The world the compiler of scenarios sees in tests: job files below test/golden/scenario, the faults of the simulator.
 * Owns fixtures only; must not assert.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { compileScenario, type ScenarioCompilation } from '../../dsl/scenario/compile-scenario.ts';
import type { ScenarioWorld } from '../../dsl/scenario/scenario-world.ts';
import { printDiagnostics } from '../../dsl/check/print-diagnostics.ts';
import { FAULTS } from '../../simulator/faults/catalogue.ts';
import { testWorld } from './test-world.ts';

export const SCENARIO_FOLDER = path.join(import.meta.dirname, '../golden/scenario');

export const scenarioWorld: ScenarioWorld = {
  faults: Object.keys(FAULTS),
  readJob(relativePath) {
    const file = path.join(SCENARIO_FOLDER, 'ok', relativePath);
    if (!existsSync(file)) return { problem: 'missing' };
    if (statSync(file).isDirectory()) return { problem: 'directory' };
    return { source: { path: relativePath, text: readFileSync(file) }, world: testWorld };
  },
};

export function compileText(text: string | Uint8Array, name = 'scenario.yaml'): ScenarioCompilation {
  return compileScenario({ path: name, text }, scenarioWorld);
}

/** The pretty form of every finding, of the scenario and of its job. */
export function printed({ diagnostics, job }: ScenarioCompilation, name: string, text: string): string {
  const sources = new Map([[name, text]]);
  if (job !== null)
    sources.set(job.path, typeof job.text === 'string' ? job.text : new TextDecoder().decode(job.text));
  return printDiagnostics(diagnostics, sources, { format: 'pretty' });
}

export function scenarioFiles(folder: 'ok' | 'err'): string[] {
  return readdirSync(path.join(SCENARIO_FOLDER, folder)).filter((file) => file.endsWith('.yaml'));
}

export function scenarioText(folder: 'ok' | 'err', file: string): string {
  return readFileSync(path.join(SCENARIO_FOLDER, folder, file), 'utf8');
}
