/**
 * A job that sets next to nothing, as large as a test likes, played on the simulator.
 * Owns the reading of YAML to an answer; every default is the product's own.
 */
import { START_AT_DEFAULT } from '../../dsl/scenario/start-at.ts';
import { simulatePlan, type PlanAnswer } from '../../simulator/simulate-plan.ts';
import type { ModelOptions } from '../../simulator/models/model-options.ts';
import { DAY_MS } from '../../core/time.ts';
import { planFrom } from '../../testing/world.ts';
import { modelsFrom, type WrittenModels } from '../../testing/written-models.ts';
import { policyFrom, type WrittenPolicy } from '../../testing/written-policy.ts';

export interface Batch {
  /** Keys of the job beside its items, as YAML. */
  readonly job?: string;
  readonly items?: number;
  readonly policy?: WrittenPolicy;
  readonly models?: WrittenModels;
  /** What `models` has no word for. */
  readonly change?: Partial<ModelOptions>;
}

/** Three hundred items, `item-0` to `item-299`, of which each works for a minute, unless the batch says otherwise. */
export function playBatch({
  job = '',
  items = 300,
  policy = {},
  models = {},
  change = {},
}: Batch): PlanAnswer {
  const text = `kind: job
version: 1
name: larger
${job}
defaults: {model: m, repo: acme/shop}
conversations:
  - {id: item, prompt: Do it., key: 'item-\${{ matrix.n }}', matrix: {n: [${Array.from({ length: items }, (_, n) => n).join(', ')}]}}
`;
  const world = modelsFrom({ agent: { work: '1m' }, ...models });
  const answer = simulatePlan({
    plan: planFrom(text),
    policy: policyFrom(policy),
    models: { ...world, ...change },
    seed: 1,
    startAt: START_AT_DEFAULT,
    untilMs: 30 * DAY_MS,
    checks: true,
  });
  if (answer.violations.length > 0) throw new Error(JSON.stringify(answer.violations[0]));
  return answer;
}

/** Most conversations that were being worked on at once. */
export function mostAtWork({ conversations }: PlanAnswer): number {
  const changes = conversations
    .flatMap(({ stretches }) =>
      stretches.map(({ from, as }, index) => ({
        at: from,
        by: Number(as !== 'queued' && as !== 'ended') - Number(wasBusy(stretches[index - 1]?.as)),
      })),
    )
    .sort((a, b) => a.at - b.at || a.by - b.by);
  let now = 0;
  let most = 0;
  for (const { by } of changes) most = Math.max(most, (now += by));
  return most;
}

function wasBusy(as: string | undefined): boolean {
  return as !== undefined && as !== 'queued' && as !== 'ended';
}
