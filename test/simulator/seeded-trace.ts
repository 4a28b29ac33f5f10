/** The trace of one simulation for a seed, for tests that want it here and from another process. */
import { MODELS_DEFAULT } from '../../simulator/models/model-options.ts';
import { simulatePlan } from '../../simulator/simulate-plan.ts';
import { question } from './questions.ts';

export function traceOf(seed: number, checks = false): { readonly text: string; readonly hash: string } {
  const lines: string[] = [];
  const onTraceLine = (line: string): void => void lines.push(line);
  const { hash } = simulatePlan({ ...question(12), models: MODELS_DEFAULT, seed, checks, onTraceLine });
  return { text: lines.map((line) => `${line}\n`).join(''), hash };
}
