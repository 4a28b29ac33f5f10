/** The same seed twice is the same trace, byte for byte: in one process, in two, and with checkers on or off. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { MODELS_DEFAULT } from '../../simulator/models/model-options.ts';
import { simulatePlan } from '../../simulator/simulate-plan.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { question } from './questions.ts';
import { traceOf } from './seeded-trace.ts';

/** A trace of a dozen conversations has less than one. */
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const PROGRAM = `import { traceOf } from './seeded-trace.ts'; process.stdout.write(traceOf(1).text);`;

describe('a simulation', () => {
  it('is byte for byte the same for the same seed, and another for another', () => {
    const first = traceOf(1);
    expect(traceOf(1)).toEqual(first);
    expect(traceOf(2).hash).not.toBe(first.hash);
  });

  it('is the same whether or not it is checked, and whether or not anybody reads its trace', () => {
    const { hash } = traceOf(3);
    expect(traceOf(3, true).hash).toBe(hash);
    expect(simulatePlan({ ...question(12), models: MODELS_DEFAULT, seed: 3 }).hash).toBe(hash);
  });

  it('is the same in another process', async () => {
    const outfile = path.join(tempDir(), 'print-trace.mjs');
    const stdin = { contents: PROGRAM, resolveDir: import.meta.dirname, loader: 'ts' as const };
    await build({ stdin, outfile, bundle: true, platform: 'node', format: 'esm' });
    const child = spawnSync(process.execPath, [outfile], { encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX });
    expect(child).toMatchObject({ status: 0, stderr: '' });
    expect(child.stdout).toBe(traceOf(1).text);
  });

  it('names in each line its instant, place, entity, event, what changed, what was ordered, and the hash so far', () => {
    const { text, hash } = traceOf(1);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(Object.keys(lines[0] ?? {})).toEqual(['at', 'seq', 'entity', 'event', 'view', 'orders', 'hash']);
    expect(lines.at(-1)?.['hash']).toBe(hash);
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
  });
});
