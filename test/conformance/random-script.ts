/** A random script for a seed: conversations that share sandboxes, a batch, failures. Owns the choice of actions; the same seed gives the same script. */
import type { ActivityCommandType } from '../../core/machine/command.ts';
import { GROUPING_STRATEGIES } from '../../core/status.ts';
import { pick } from '../../simulator/campaign/choose.ts';
import { fixed, uniform } from '../../simulator/models/distribution.ts';
import { MODELS_DEFAULT, type FailureRate, type ModelOptions } from '../../simulator/models/model-options.ts';
import { RandomStream } from '../../simulator/random.ts';
import type { Action, Script } from '../../simulator/script.ts';
import { H, M, plan, POLICY, S } from './script-parts.ts';

const NAMES = ['a', 'b', 'c'] as const;
const WAITS = [0, 700, 5 * S, 40 * S, 5 * M, 25 * M, 3 * H, 13 * H] as const;
const FAILING: readonly ActivityCommandType[] = [
  'createSandbox',
  'resumeSandbox',
  'stopSandbox',
  'archiveWorkspace',
  'destroySandbox',
  'deliverItem',
  'openAgent',
  'collectItem',
];

export function randomScript(seed: number): Script {
  const stream = new RandomStream(seed).split('script');
  const steps: { atMs: number; action: Action }[] = [{ atMs: 0, action: { do: 'start', name: 'a' } }];
  let atMs = 0;
  if (stream.happens(0.3))
    steps.push({
      atMs,
      action: {
        do: 'run',
        plan: plan(2, { placement: { strategy: pick(stream, GROUPING_STRATEGIES), sandboxId: null } }),
        ...(seed % 2 === 0 ? { shardItems: 1 } : {}),
      },
    });
  const count = 4 + Math.floor(stream.next() * 6);
  for (let step = 0; step < count; step += 1) {
    atMs += pick(stream, WAITS);
    steps.push({ atMs, action: randomAction(stream) });
  }
  const capacity = { ...POLICY.capacity, installationMax: pick(stream, [1, 2, 100]) };
  const onFull = pick(stream, ['refuse', 'pause_longest_idle'] as const);
  return {
    name: `seed ${seed}`,
    seed,
    models: randomModels(stream),
    policy: { ...POLICY, capacity, onFull },
    steps,
    untilMs: atMs + pick(stream, [2 * H, 15 * 24 * H]),
  };
}

function randomAction(stream: RandomStream): Action {
  const name = pick(stream, NAMES);
  const kind = pick(stream, [
    'start',
    'start',
    'message',
    'message',
    'pause',
    'resume',
    'delete',
    'remove',
    'interrupt',
    'access',
    'lose',
    'cancelRun',
    'resumeRun',
  ] as const);
  switch (kind) {
    case 'start':
      return {
        do: 'start',
        name,
        strategy: pick(stream, GROUPING_STRATEGIES),
        ...(stream.happens(0.2) ? { in: pick(stream, NAMES) } : {}),
      };
    case 'pause':
    case 'resume':
    case 'delete':
      return { do: kind, of: name };
    case 'lose':
      return { do: 'lose', of: name, loss: pick(stream, ['crashed', 'gone'] as const) };
    case 'cancelRun':
      return { do: 'cancelRun' };
    case 'resumeRun':
      return { do: 'resumeRun', classes: ['infra', 'cancelled'] };
    default:
      return { do: kind, name };
  }
}

function randomModels(stream: RandomStream): ModelOptions {
  const share = pick(stream, [0, 0.05, 0.3]);
  const failures: Partial<Record<ActivityCommandType, FailureRate>> = Object.fromEntries(
    FAILING.map((type) => [type, { share }]),
  );
  const work = pick(stream, [fixed(30 * H), uniform(M, 2 * H)]);
  return {
    ...MODELS_DEFAULT,
    failures,
    agent: {
      ...MODELS_DEFAULT.agent,
      work,
      rateLimit: { share: 0.2, wait: uniform(S, 40 * M) },
      confirmation: { share: 0.2, answerAfter: uniform(S, 2 * H) },
    },
  };
}
