/**
 * Where the results of `parley test` go as they come: TAP, or records.
 * Owns the choice between the two; each form is in a file of its own.
 */
import { openRecords } from '../../host/records.ts';
import type { TextStream } from '../../host/shell.ts';
import { expectationRecords } from './expectation-records.ts';
import { countVerdicts } from './expectation-words.ts';
import { tapHeader, tapPoint } from './tap.ts';
import type { Tested } from './tested.ts';

export interface TestReporter {
  /** Once, before the first, with how many there will be. */
  begin(count: number): void;
  add(tested: Tested): void;
}

export function testReporter(stdout: TextStream, { json }: { readonly json: boolean }): TestReporter {
  return json ? recordReporter(stdout) : tapReporter(stdout);
}

function tapReporter(stdout: TextStream): TestReporter {
  let number = 0;
  return {
    begin: (count) => void stdout.write(tapHeader(count)),
    add(tested) {
      number += 1;
      stdout.write(tapPoint(tested, number));
    },
  };
}

function recordReporter(stdout: TextStream): TestReporter {
  const records = openRecords(stdout);
  return {
    begin: () => undefined,
    add(tested) {
      if (tested.kind === 'bad') {
        records.write({ type: 'scenario', file: tested.file, held: false, problem: tested.problem });
        return;
      }
      const { file, scenario, answer } = tested;
      const { plan, expectations, seed } = answer;
      const { startAt } = scenario;
      for (const record of expectationRecords(expectations, { file, startAt, seed })) records.write(record);
      records.write({
        type: 'scenario',
        file,
        name: scenario.name,
        seed,
        held: countVerdicts(expectations).failed === 0,
        ...countVerdicts(expectations),
        steps: plan.steps,
        hash: plan.hash,
      });
    },
  };
}
