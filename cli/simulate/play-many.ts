/**
 * Many plays, one after the other, with progress on standard error when they take long.
 * Owns the bound on how many there are; must not count what they answer.
 */
import type { PlanAnswer } from '../../simulator/simulate-plan.ts';
import { CliError } from '../../host/cli-error.ts';
import { expectLongWork } from '../../host/cold-start.ts';
import type { Shell } from '../../host/shell.ts';
import { play, type PlayRequest } from './play-request.ts';

/** More take an afternoon even for a small job. */
const PLAYS_MAX = 20_000;
/** Progress is printed about this often. */
const TELL_EVERY_MS = 2_000;

/** Passes on each answer as it comes, in the order of the requests. @throws CliError when there are too many */
export function playMany(
  { stderr, clock }: Shell,
  requests: readonly PlayRequest[],
  onAnswer: (answer: PlanAnswer, index: number) => void,
): void {
  if (requests.length > PLAYS_MAX)
    throw new CliError(`Cannot play ${requests.length} simulations: there may be ${PLAYS_MAX}`, {
      remedy: 'give fewer values, or fewer --seeds',
    });
  expectLongWork();
  let toldAt = clock.now();
  for (const [index, request] of requests.entries()) {
    onAnswer(play(request), index);
    if (clock.now() - toldAt < TELL_EVERY_MS || index + 1 === requests.length) continue;
    toldAt = clock.now();
    stderr.write(`${index + 1} of ${requests.length} played\n`);
  }
}

/** The same request under every seed from its own on. */
export function withSeeds(request: PlayRequest, seeds: number): PlayRequest[] {
  return Array.from({ length: seeds }, (_, index) => ({ ...request, seed: request.seed + index }));
}
