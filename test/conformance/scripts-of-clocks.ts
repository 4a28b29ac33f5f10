/**
 * Scripts in which the wall clock of the engine is set, or its machine suspended (D36).
 * Owns the list, with the outcome of each script; the result must be equality, and no violation.
 */
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import type { Script } from '../../simulator/script.ts';
import { agent, H, item, M, plan, script } from './script-parts.ts';
import { inShards } from './scripts-of-shards.ts';

const worksFor = (minutes: number) => agent({ work: fixed(minutes * M) });
const limited = (workingMs: number) => ({ limits: { workingMs, turns: null, nanoUsd: null } });
const PLAN = plan(1);
const deadline = (deadlineMs: number) => ({ wait: { ...PLAN.wait, deadlineMs } });

/** With the outcome of every item. */
export const CLOCK_SCRIPTS: readonly { readonly script: Script; readonly outcome: string }[] = [
  {
    script: script(
      'suspended for a night, four items at work under a deadline and a limit',
      [
        [
          0,
          {
            do: 'run',
            plan: plan(4, {
              ...deadline(10 * M),
              admission: { concurrency: 4 },
              items: [0, 1, 2, 3].map((index) => item(index, limited(6 * M))),
            }),
          },
        ],
        [3 * M, { do: 'clock', byMs: 8 * H }],
      ],
      { models: worksFor(5), untilMs: 2 * H },
    ),
    outcome: 'succeeded',
  },
  {
    script: script(
      'the clock is set forward, and the limit of working time is met in its time',
      [
        [0, { do: 'run', plan: plan(1, { items: [item(0, limited(5 * M))] }) }],
        [2 * M, { do: 'clock', byMs: 10 * M }],
      ],
      { untilMs: 2 * H },
    ),
    outcome: 'limit_reached',
  },
  {
    script: script(
      'the clock is set back, and the limit of working time is met in its time',
      [
        [0, { do: 'run', plan: plan(1, { items: [item(0, limited(5 * M))] }) }],
        [2 * M, { do: 'clock', byMs: -H }],
      ],
      { untilMs: 40 * M },
    ),
    outcome: 'limit_reached',
  },
  {
    script: script(
      'the clock is set forward while a sandbox boots',
      [
        [0, { do: 'run', plan: plan(1) }],
        [M, { do: 'clock', byMs: H }],
      ],
      {
        models: { ...worksFor(5), runtime: { ...MODELS_STEADY.runtime, boot: fixed(3 * M) } },
        untilMs: 2 * H,
      },
    ),
    outcome: 'succeeded',
  },
];

export const SHARDED_CLOCK_SCRIPTS = CLOCK_SCRIPTS.map(({ script: one, outcome }) => ({
  script: inShards(one),
  outcome,
}));
