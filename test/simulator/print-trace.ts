/** Prints the trace of a simulation, for a test that wants it from another process. */
import { MODELS_DEFAULT } from '../../simulator/models/model-options.ts';
import { simulatePlan } from '../../simulator/simulate-plan.ts';
import { question } from './questions.ts';

simulatePlan({
  ...question(12),
  models: MODELS_DEFAULT,
  seed: Number(process.argv[2] ?? 1),
  onTraceLine: (line) => process.stdout.write(`${line}\n`),
});
