/**
 * One scenario file under one seed, as `parley test` found it.
 * Owns the shape that its reports are made of.
 */
import type { Scenario } from '../../dsl/scenario/scenario.ts';
import type { ScenarioAnswer } from '../../simulator/scenario/play-scenario.ts';

export type Tested =
  | {
      readonly kind: 'played';
      readonly file: string;
      /** The file itself, for excerpts. */
      readonly text: string;
      readonly scenario: Scenario;
      readonly answer: ScenarioAnswer;
    }
  /** It has errors, which were printed. */
  | { readonly kind: 'bad'; readonly file: string; readonly problem: string };

/** `folder/night.scenario.yaml: night (seed 7)` */
export function testName(tested: Tested): string {
  if (tested.kind === 'bad') return tested.file;
  return `${tested.file}: ${tested.scenario.name} (seed ${tested.answer.seed})`;
}
