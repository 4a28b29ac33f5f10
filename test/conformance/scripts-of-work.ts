/** Scripts about batches, after those about conversations alone. Owns the list; what must come out is equality, and no violation. */
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import type { Script } from '../../simulator/script.ts';
import { CONVERSATION_SCRIPTS } from './scripts-of-conversations.ts';
import {
  agent,
  APART,
  BUSY,
  D,
  failing,
  H,
  item,
  M,
  plan,
  POLICY,
  S,
  script,
  start,
  told,
} from './script-parts.ts';

const run = (...parts: Parameters<typeof plan>) => ({ do: 'run', plan: plan(...parts) }) as const;
const RETRY = [
  {
    on: ['agent_error', 'stuck', 'infra'] as const,
    attempts: 1,
    initialMs: 30 * S,
    factor: 2,
    maxMs: 10 * M,
  },
];
const ERRORS = agent({ outcomes: { FINISHED: 0, ERROR: 1, STUCK: 0 } });

const FOR_A_FAILURE: Parameters<typeof plan>[1] = {
  items: [
    item(0, { entry: 'build' }),
    item(1, { entry: 'fix', needs: [{ entry: 'build', outcome: 'failed', each: false }] }),
    item(2, { entry: 'publish', needs: [{ entry: 'fix', outcome: 'succeeded', each: false }] }),
  ],
};
// Due in instants of its own: none of another item falls on them. The last item begins as the pause of the first does,
// so that with one rule for both a pause would be over in the instant in which an attempt is collected.
const retriedApart = (attempts: number) =>
  item(2, { retry: [{ on: ['agent_error'], attempts, initialMs: 47 * S, factor: 2, maxMs: 10 * M }] });
const RETRIES: Parameters<typeof plan>[1] = { items: [item(0), item(1), retriedApart(1)], retry: RETRY };
const OWN_RETRIES: Parameters<typeof plan>[1] = {
  items: [item(0), item(1, { retry: [] }), retriedApart(3)],
  retry: RETRY,
};
const OWN_ENDS: Parameters<typeof plan>[1] = {
  items: [
    item(0),
    item(1, { wait: { ...plan(1).wait, deadlineMs: 5 * M } }),
    item(2, { wait: { ...plan(1).wait, onSessionLimit: 'stop' } }),
  ],
  admission: { concurrency: 3 },
};
const RECOVERING = {
  on: ['infra'],
  windowMs: H,
  count: 2,
  recover: { afterMs: 10 * M, probes: 2 },
} as const;
const THREE = plan(3, { admission: { concurrency: 1 }, hash: 'three' });
const MORE = plan(4, {
  items: [
    item(0, { prompt: 'in flight', specHash: 'other 0' }),
    item(1, { verify: { command: 'c', timeoutMs: M }, specHash: 'other 1' }),
    item(2),
    item(3, { needs: [{ entry: 'item', outcome: 'ended', each: false }], entry: 'late', specHash: 'new' }),
  ],
  admission: { concurrency: 1 },
  hash: 'more',
});
const AMENDED = {
  run: { do: 'run', plan: THREE },
  amend: { do: 'amendRun', from: THREE, plan: MORE, retired: [2] },
} as const;

const SETTLED_AND_REMOVED: Parameters<typeof plan>[1] = {
  cleanup: { sandbox: 'delete', conversation: 'delete', onCollectFailure: 'keep' },
  reconcile: {
    rows: { from: 'gateway' },
    settleMs: 10 * M,
    windowBeforeMs: 0,
    windowAfterMs: 0,
    ambiguous: 'keep',
    unmatchedNanoUsdMax: null,
  },
};
const NO_SLOT: Parameters<typeof plan>[1] = {
  admission: { concurrency: 4 },
  retry: [{ on: ['rate_limited'], attempts: 5, initialMs: 5 * M, factor: 2, maxMs: H }],
};
const TWO_SLOTS = { capacity: { ...POLICY.capacity, userMax: 2 } };

export const WORK_SCRIPTS: readonly Script[] = [
  ...CONVERSATION_SCRIPTS,
  script(
    'a batch of three, two at once, checked',
    [
      [
        0,
        run(3, {
          items: [item(0, { verify: { command: 'c', timeoutMs: M } }), item(1, { priority: 5 }), item(2)],
        }),
      ],
    ],
    { untilMs: 4 * H },
  ),
  script('a batch that tries again what failed', [[0, run(3, RETRIES)]], {
    models: ERRORS,
    untilMs: 6 * H,
  }),
  script('a stage for a failure that does not come', [[0, run(3, FOR_A_FAILURE)]], { untilMs: 6 * H }),
  script('a stage for a failure that comes', [[0, run(3, FOR_A_FAILURE)]], {
    models: ERRORS,
    untilMs: 6 * H,
  }),
  script('items are tried again by rules of their own', [[0, run(3, OWN_RETRIES)]], {
    models: ERRORS,
    untilMs: 6 * H,
  }),
  script('items have ends of their own', [[0, run(3, OWN_ENDS)]], { models: BUSY, untilMs: 2 * D }),
  script(
    'the breaker holds a batch, somebody resumes it',
    [
      [0, run(5, { breaker: { on: ['agent_error'], windowMs: H, count: 2 } })],
      [3 * H, { do: 'resumeRun', classes: ['agent_error'] }],
    ],
    { models: ERRORS, untilMs: 12 * H },
  ),
  script(
    'the breaker opens, a probe fails, the next ones go well',
    [[0, run(6, { breaker: RECOVERING, admission: { concurrency: 2 } })]],
    { models: failing({ startConversation: { first: 3 } }), untilMs: 12 * H },
  ),
  script(
    'the breaker opens, somebody does not wait for it',
    [
      [0, run(4, { breaker: RECOVERING })],
      [2 * M, { do: 'resumeRun', classes: [] }],
    ],
    { models: failing({ startConversation: { first: 2 } }), untilMs: 12 * H },
  ),
  script(
    'the budget holds a batch',
    [[0, run(4, { budget: { nanoUsd: 3_000_000_000, reserveNanoUsd: 1_425_000_000, mode: 'enforce' } })]],
    { untilMs: 12 * H },
  ),
  script(
    'a limit of an item ends its work',
    [[0, run(1, { items: [item(0, { limits: { workingMs: null, turns: null, nanoUsd: 500_000_000 } })] })]],
    { untilMs: 4 * H },
  ),
  script('an item stalls', [[0, run(1)]], {
    models: agent({ quiet: { share: 1, length: fixed(2 * H), leased: 1 } }),
    untilMs: 6 * H,
  }),
  script(
    'an item works too long',
    [[0, run(1, { items: [item(0, { limits: { workingMs: 5 * M, turns: null, nanoUsd: null } })] })]],
    { untilMs: 4 * H },
  ),
  script('the cap of a session strikes twice, the attempt goes on', [[0, run(1)]], {
    models: BUSY,
    untilMs: 2 * D,
  }),
  script(
    'cancelled at work',
    [
      [0, run(4)],
      [5 * M, { do: 'cancelRun' }],
    ],
    { untilMs: 4 * H },
  ),
  script(
    'cancelled at work, its calls apart',
    [
      [0, run(4)],
      [5 * M, { do: 'cancelRun' }],
    ],
    { models: APART, untilMs: 4 * H },
  ),
  script(
    'drained, then resumed',
    [
      [0, run(4)],
      [5 * M, { do: 'drainRun' }],
      [2 * H, { do: 'resumeRun', classes: [] }],
    ],
    { untilMs: 8 * H },
  ),
  script(
    'more at once, in the middle',
    [
      [0, run(5)],
      [5 * M, { do: 'concurrency', of: 5 }],
    ],
    { untilMs: 8 * H },
  ),
  script(
    'more at once, in the middle, its calls apart',
    [
      [0, run(5)],
      [5 * M, { do: 'concurrency', of: 5 }],
    ],
    { models: APART, untilMs: 8 * H },
  ),
  script(
    'a batch in one shared sandbox, reconciled, conversations removed',
    [[0, run(3, { ...SETTLED_AND_REMOVED, placement: { strategy: 'ADD_TO_ANY', sandboxId: null } })]],
    { untilMs: 6 * H },
  ),
  script('a batch of one item, reconciled, its conversation removed', [[0, run(1, SETTLED_AND_REMOVED)]], {
    untilMs: 6 * H,
  }),
  script(
    'a batch in one shared sandbox, one item after the other',
    [
      [
        0,
        run(3, {
          placement: { strategy: 'ADD_TO_ANY', sandboxId: null },
          admission: { concurrency: 1 },
          cleanup: { sandbox: 'delete', conversation: 'keep', onCollectFailure: 'keep' },
        }),
      ],
    ],
    { untilMs: 6 * H },
  ),
  script(
    'somebody else is in the sandbox that a batch lets go',
    [
      [0, run(1, { placement: { strategy: 'ADD_TO_ANY', sandboxId: null } })],
      [5 * M, start('guest', { strategy: 'ADD_TO_ANY' })],
    ],
    { untilMs: 4 * H },
  ),
  script('a collection fails: its sandbox is kept', [[0, run(2)]], {
    models: failing({ collectItem: { first: 1 } }),
    untilMs: 4 * H,
  }),
  script('a start is refused, tried again', [[0, run(2, { retry: RETRY })]], {
    models: failing({ startConversation: { first: 1 } }),
    untilMs: 4 * H,
  }),
  script('no slot for half of a batch', [[0, run(4, NO_SLOT)]], { policy: TWO_SLOTS, untilMs: 8 * H }),
  script('no slot for half of a batch, its calls apart', [[0, run(4, NO_SLOT)]], {
    models: APART,
    policy: TWO_SLOTS,
    untilMs: 8 * H,
  }),
  script('no slot for one item of a batch', [[0, run(3, { ...NO_SLOT, admission: { concurrency: 3 } })]], {
    policy: TWO_SLOTS,
    untilMs: 8 * H,
  }),
  script(
    'what failed of a batch that has ended is taken up again',
    [
      [0, run(2)],
      [2 * H, { do: 'resumeRun', classes: ['infra'] }],
    ],
    { models: failing({ startConversation: { first: 1 } }), untilMs: 6 * H },
  ),
  script(
    'a report without its reconciliation',
    [
      [
        0,
        run(1, {
          reconcile: {
            rows: { from: 'proxy' },
            settleMs: 0,
            windowBeforeMs: 0,
            windowAfterMs: 0,
            ambiguous: 'keep',
            unmatchedNanoUsdMax: null,
          },
        }),
      ],
    ],
    { models: failing({ reconcileRun: { first: 1 } }, MODELS_STEADY), untilMs: 4 * H },
  ),
  script(
    'the plan of a batch is amended: one more, one changed, one gone, one in flight',
    [
      [0, AMENDED.run],
      [5 * M, AMENDED.amend],
    ],
    { untilMs: 8 * H },
  ),
  script(
    'the plan of a batch that has ended is amended',
    [
      [0, AMENDED.run],
      [6 * H, AMENDED.amend],
    ],
    { models: ERRORS, untilMs: 12 * H },
  ),
  script('a batch tells two receivers of its end', [[0, run(2, { finally: [told(), told()] })]], {
    untilMs: 4 * H,
  }),
  script('a receiver refuses, the next one is told', [[0, run(1, { finally: [told(), told()] })]], {
    models: failing({ notifyOfRun: { first: 1 } }),
    untilMs: 4 * H,
  }),
  script('every receiver refuses', [[0, run(1, { finally: [told(), told()] })]], {
    models: failing({ notifyOfRun: { first: 2 } }),
    untilMs: 4 * H,
  }),
  script('two receivers take too long', [[0, run(1, { finally: [told(S), told(S)] })]], {
    models: { ...MODELS_STEADY, agentCall: fixed(2 * S) },
    untilMs: 4 * H,
  }),
  script(
    'a sandbox of a batch is only paused at the end',
    [[0, run(2, { cleanup: { sandbox: 'pause', conversation: 'keep', onCollectFailure: 'keep' } })]],
    { untilMs: 4 * H },
  ),
  script(
    'a batch of five waits for two slots',
    [[0, run(5, { admission: { concurrency: 5 }, placement: { strategy: 'NO_GROUPING', sandboxId: null } })]],
    { policy: { capacity: { ...POLICY.capacity, userMax: 2 } }, untilMs: 8 * H },
  ),
  script(
    'a batch that shares two sandboxes of two places waits until one is given back',
    [[0, run(7, { admission: { concurrency: 7 }, placement: { strategy: 'ADD_TO_ANY', sandboxId: null } })]],
    {
      policy: { capacity: { installationMax: 2, userMax: 2, conversationsPerSandboxMax: 2 } },
      untilMs: 8 * H,
    },
  ),
];
