/**
 * What every form of `parley simulate` sends to the simulator: a job, a policy, a model, a seed, a time.
 * Owns the reading of these flags, and that an answer under a broken rule is no answer.
 */
import { ParleyError } from '../../core/parley-error.ts';
import { DAY_MS } from '../../core/time.ts';
import { parseDuration } from '../../dsl/duration.ts';
import { START_AT_DEFAULT } from '../../dsl/scenario/start-at.ts';
import type { ModelOptions } from '../../simulator/models/model-options.ts';
import type { ReplacedAnswers } from '../../simulator/recording/replaced-answers.ts';
import { simulatePlan, type PlanAnswer } from '../../simulator/simulate-plan.ts';
import { CliError } from '../../host/cli-error.ts';
import type { Setup } from './changeable-keys.ts';

/** Sandboxes that wait for their deletion are of interest for weeks; a longer play only costs time. */
const UNTIL_MAX_MS = 3_650 * DAY_MS;
/** Percentiles of more plays do not change a user's decision. */
const SEEDS_MAX = 1_000;

export const SEED_DEFAULT = 1;
export const UNTIL_DEFAULT_MS = 30 * DAY_MS;

export interface PlayRequest {
  readonly setup: Setup;
  readonly models: ModelOptions;
  readonly replaces: ReplacedAnswers | undefined;
  readonly seed: number;
  readonly untilMs: number;
}

export interface PlayExtras {
  readonly curves?: boolean;
  readonly onTraceLine?: (line: string) => void;
}

/** @throws as `refuseBroken` */
export function play(request: PlayRequest, extras: PlayExtras = {}): PlanAnswer {
  const { setup, models, replaces, seed, untilMs } = request;
  const answer = simulatePlan({
    ...setup,
    models,
    seed,
    untilMs,
    startAt: START_AT_DEFAULT,
    checks: true,
    ...extras,
    ...(replaces === undefined ? {} : { replaces }),
  });
  refuseBroken(answer);
  return answer;
}

/** @throws ParleyError internal when a rule did not hold: that is a bug of ours, and what was counted is worth nothing */
export function refuseBroken({ violations }: PlanAnswer): void {
  const [first] = violations;
  if (first === undefined) return;
  const problem = `${first.name}: ${first.entity}: ${first.problem}`;
  throw new ParleyError('internal', `Cannot trust the simulation: ${problem}`);
}

/** Undefined stays so. @throws CliError */
export function readSeed(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CliError(`Cannot use the seed "${text}": it is no whole number of 0 or more`);
}

/** Undefined stays so. @throws CliError */
export function readUntil(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== null && ms > 0 && ms <= UNTIL_MAX_MS) return ms;
  throw new CliError(`Cannot simulate until "${text}": it is no time between 1s and 3650d`, {
    remedy: 'write days, hours, minutes, seconds, as in "2d12h"',
  });
}

/** How many seeds to play, counted up from the first. @throws CliError */
export function readSeeds(text: string | undefined): number {
  if (text === undefined) return 1;
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= SEEDS_MAX) return Number(text);
  throw new CliError(`Cannot play "${text}" seeds: it is no whole number from 1 to ${SEEDS_MAX}`);
}
