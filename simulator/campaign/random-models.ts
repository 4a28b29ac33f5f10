/**
 * A world by chance: how long things take, how agents behave, what fails of itself.
 * Owns the ranges; faults are no part of a model.
 */
import type { ActivityCommandType } from '../../core/machine/command.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { fixed, lognormal, uniform, type Distribution } from '../models/distribution.ts';
import {
  MODELS_DEFAULT,
  type AgentBehaviour,
  type FailureRate,
  type ModelOptions,
} from '../models/model-options.ts';
import type { RandomStream } from '../random.ts';
import { between, wholeMagnitude, pick } from './choose.ts';
import type { Leanings } from './leanings.ts';

/** Commands that may fail of themselves; what a watch says is the fault models' business. */
const FAILING: readonly ActivityCommandType[] = [
  'createSandbox',
  'resumeSandbox',
  'stopSandbox',
  'archiveWorkspace',
  'destroySandbox',
  'reserveSlot',
  'placeConversation',
  'prepareRepository',
  'runSetupScript',
  'setUpGitHooks',
  'setUpSkills',
  'openAgent',
  'deliverItem',
  'startConversation',
  'verifyItem',
  'collectItem',
  'reconcileRun',
];
const FAILING_SHARE = 0.15;
/** So many stops or removals fail at first that a run stops waiting for its sandboxes. */
const STUBBORN_TRIES = 900;

/** Dozens of conversations may wait for a slot for days: a try of each every few seconds would be all that is played. */
const SLOT_RETRY_MAX_MS = 2 * MINUTE_MS;

interface ModelConstraints extends Pick<Leanings, 'stubborn' | 'failing'> {
  /** Calls take long, so that something can happen while one is out. */
  readonly slow: boolean;
}

export function randomModels(stream: RandomStream, aims: ModelConstraints): ModelOptions {
  return {
    ...MODELS_DEFAULT,
    runtime: {
      boot: time(stream, 4 * SECOND_MS, aims.slow),
      resume: time(stream, 3 * SECOND_MS, aims.slow),
      stop: time(stream, 2 * SECOND_MS, aims.slow),
      archive: time(stream, 5 * SECOND_MS, aims.slow),
      destroy: time(stream, SECOND_MS, aims.slow),
    },
    agentCall: time(stream, 200, aims.slow),
    verify: time(stream, 30 * SECOND_MS, aims.slow),
    collect: time(stream, 2 * SECOND_MS, aims.slow),
    agent: randomBehaviour(stream),
    failures: randomFailures(stream, aims),
    checkFails: pick(stream, [0, 0.1, 0.5]),
    pollMs: pick(stream, [10 * SECOND_MS, MINUTE_MS, 3 * MINUTE_MS]),
    slotRetryMaxMs: SLOT_RETRY_MAX_MS,
  };
}

/** Slow ones stay below the deadlines of starts, stops and removals most of the time. */
function time(stream: RandomStream, usualMs: number, slow: boolean): Distribution {
  if (slow) return uniform(30 * SECOND_MS, wholeMagnitude(stream, MINUTE_MS, 6 * MINUTE_MS));
  return pick(
    stream,
    [fixed(usualMs), lognormal(usualMs, usualMs * 8), uniform(0, 2 * MINUTE_MS)],
    [3, 5, 1],
  );
}

function randomBehaviour(stream: RandomStream): AgentBehaviour {
  return {
    work: pick(
      stream,
      [
        lognormal(18 * MINUTE_MS, 2 * HOUR_MS),
        uniform(SECOND_MS, 10 * MINUTE_MS),
        uniform(MINUTE_MS, 5 * HOUR_MS),
        fixed(30 * HOUR_MS),
      ],
      [5, 4, 3, 1],
    ),
    outcomes: {
      FINISHED: pick(stream, [0.2, 0.8, 1]),
      ERROR: stream.next() * 0.2,
      STUCK: stream.next() * 0.2,
    },
    rateLimit: { share: pick(stream, [0, 0.1, 0.5]), wait: uniform(SECOND_MS, 40 * MINUTE_MS) },
    confirmation: {
      share: pick(stream, [0, 0.1, 0.4]),
      answerAfter: stream.happens(0.7) ? uniform(SECOND_MS, 3 * HOUR_MS) : null,
    },
    quiet: {
      share: pick(stream, [0, 0.2, 0.6]),
      length: lognormal(5 * MINUTE_MS, 2 * HOUR_MS),
      leased: stream.next(),
    },
    inputTokens: lognormal(400_000, 3_000_000),
    outputTokens: lognormal(15_000, 100_000),
  };
}

function randomFailures(
  stream: RandomStream,
  { failing, stubborn }: ModelConstraints,
): ModelOptions['failures'] {
  const failures: Partial<Record<ActivityCommandType, FailureRate>> = {};
  for (const type of FAILING) {
    if (failing.includes(type)) failures[type] = { share: 0.5 };
    else if (stream.happens(FAILING_SHARE))
      failures[type] = { first: between(stream, 0, 4), share: pick(stream, [0.02, 0.1, 0.3]) };
  }
  // Drawn from a stream of its own: a seed keeps what it drew for the others.
  const last = stream.split('last steps');
  if (failing.includes('notifyOfRun')) failures.notifyOfRun = { share: 0.5 };
  else if (last.happens(FAILING_SHARE)) failures.notifyOfRun = { share: pick(last, [0.1, 0.3]) };
  const never: FailureRate = { first: STUBBORN_TRIES };
  return stubborn ? { ...failures, stopSandbox: never, destroySandbox: never } : failures;
}
