/**
 * Golden files of scenarios: valid ones with what they compile to, broken ones with their exact output.
 * `UPDATE_GOLDEN=1 npx vitest run test/dsl` writes them anew; they are never edited by hand.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { compileText, printed, SCENARIO_FOLDER, scenarioFiles, scenarioText } from './scenario-world.ts';

const updating = process.env['UPDATE_GOLDEN'] === '1';

function expectGolden(folder: 'ok' | 'err', file: string, actual: string): void {
  const golden = path.join(SCENARIO_FOLDER, folder, file);
  if (updating) writeFileSync(golden, actual);
  expect(actual).toBe(readFileSync(golden, 'utf8'));
}

/** Expressions by their source; prices as text. */
function asJson(value: unknown): string {
  const shown = JSON.stringify(
    value,
    (_, each: unknown) => {
      if (typeof each === 'bigint') return String(each);
      if (typeof each !== 'object' || each === null || !('evaluate' in each)) return each;
      return (each as unknown as { source: string }).source;
    },
    2,
  );
  return `${shown}\n`;
}

describe('valid scenarios', () => {
  it.each(scenarioFiles('ok'))('%s compiles', (file) => {
    const { scenario, diagnostics } = compileText(scenarioText('ok', file), file);
    expect(diagnostics).toEqual([]);
    expectGolden('ok', file.replace('.yaml', '.scenario.json'), asJson(scenario));
  });
});

describe('broken scenarios', () => {
  const files = scenarioFiles('err');

  it('has at least 60 of them', () => {
    expect(files.length).toBeGreaterThanOrEqual(60);
  });

  it.each(files)('%s says exactly what is wrong', (file) => {
    const text = scenarioText('err', file);
    const compilation = compileText(text, file);
    expect(compilation.diagnostics.length).toBeGreaterThan(0);
    const broken = compilation.diagnostics.some(({ severity }) => severity === 'error');
    expect(compilation.scenario === null).toBe(broken);
    expectGolden('err', file.replace('.yaml', '.out'), printed(compilation, file, text));
  });
});
