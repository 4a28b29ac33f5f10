/**
 * Every event of probe-events.ts in every phase: for each phase the first scripts that reach it, once per event.
 * Owns the pairing; coverage.test.ts says which transitions the written scripts and these reach together.
 */
import type { MachineName } from '../../core/ids.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY, type ModelOptions } from '../../simulator/models/model-options.ts';
import type { Script } from '../../simulator/script.ts';
import { playSimulated } from './play-simulated.ts';
import type { ConversationState } from '../../core/conversation/state.ts';
import type { RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { ProbedScript, ProbeEvent } from './probe.ts';
import { PROBE_EVENTS } from './probe-events.ts';
import { agent, BUSY, D, failing, H, item, M, plan, POLICY, S, script, start, told } from './script-parts.ts';
import { POOL_PROBES } from './probes-of-pools.ts';
import { inShards, SHARD_SCRIPTS as SCRIPTS_IN_SHARDS } from './scripts-of-shards.ts';
import { POOL_SCRIPTS } from './scripts-of-pools.ts';
import { SANDBOX_SCRIPTS } from './scripts-of-sandboxes.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';

/** Bases per phase: one entity may be alone in its phase, or shared, or on its way from another one. */
const BASES_PER_PHASE = 2;

const NAMES = ['a', 'b', 'c', 'd', 'e'] as const;

const slow = (change: Partial<ModelOptions['runtime']>): ModelOptions => ({
  ...MODELS_STEADY,
  runtime: { ...MODELS_STEADY.runtime, ...change },
});
const released = [
  [0, start('a')],
  [M, { do: 'pause', of: 'a' }],
] as const;
const crashed = [
  [0, start('a')],
  [M, { do: 'lose', of: 'a', loss: 'crashed' }],
] as const;
const run = (...parts: Parameters<typeof plan>) => ({ do: 'run', plan: plan(...parts) }) as const;
const SETTLED = {
  reconcile: {
    rows: { from: 'proxy' },
    settleMs: 10 * M,
    windowBeforeMs: 0,
    windowAfterMs: 0,
    ambiguous: 'keep',
    unmatchedNanoUsdMax: null,
  },
} as const;
const KEPT = { cleanup: { sandbox: 'keep', conversation: 'keep', onCollectFailure: 'keep' } } as const;

/** What outlasts its own deadline: no answer comes in time. */
const SLOW_SCRIPTS: readonly Script[] = [
  script('a boot that never ends', [[0, start('a')]], { models: slow({ boot: fixed(2 * H) }), untilMs: H }),
  script('a resume that never ends', [...released, [H, { do: 'message', name: 'a' }]], {
    models: slow({ resume: fixed(9 * H) }),
    untilMs: 8 * H,
  }),
  script('an archive that never ends', [...released], {
    models: slow({ archive: fixed(9 * H) }),
    untilMs: 12 * D,
  }),
  script('an archive that never ends, deleted', [...released, [H, { do: 'delete', of: 'a' }]], {
    models: slow({ archive: fixed(9 * H) }),
    untilMs: 3 * D,
  }),
  script('an archive that never ends, in error', crashed, {
    models: slow({ archive: fixed(9 * H) }),
    untilMs: 3 * D,
  }),
  script('a removal that never ends', [...released, [H, { do: 'delete', of: 'a' }]], {
    models: slow({ destroy: fixed(9 * H) }),
    untilMs: 2 * H,
  }),
  script('an agent that answers too late', [[0, start('a')]], {
    models: { ...MODELS_STEADY, agentCall: fixed(3 * H) },
    untilMs: 12 * H,
  }),
  script('an agent that answers after more than a day', [[0, start('a')]], {
    models: { ...MODELS_STEADY, agentCall: fixed(30 * H) },
    untilMs: 4 * D,
  }),
  script('a crash whose archive fails', crashed, {
    models: failing({ archiveWorkspace: { first: 3 } }),
    untilMs: D,
  }),
  script(
    'a resume that never gets a slot',
    [...released, [2 * M, start('b')], [H, { do: 'message', name: 'a' }]],
    {
      models: BUSY,
      policy: { capacity: { ...POLICY.capacity, installationMax: 1 }, onFull: 'queue' },
      untilMs: 3 * H,
    },
  ),
  script(
    'a refused placement that is heard too late',
    [
      [0, start('a')],
      [M, start('b')],
      [M + 100, { do: 'interrupt', name: 'b' }],
    ],
    {
      policy: { capacity: { ...POLICY.capacity, installationMax: 1 } },
      untilMs: H,
    },
  ),
  script(
    'refused by every sandbox there is',
    [
      ...NAMES.map((name, at) => [at * S, start(name)] as const),
      ...NAMES.map((of) => [M, { do: 'lose', of, loss: 'crashed' }] as const),
      ...NAMES.map((of) => [H, { do: 'mislead', of }] as const),
      [H, start('z', { strategy: 'ADD_TO_ANY' })],
    ],
    { untilMs: 2 * H },
  ),
  // The steps of a start follow one another every 20 seconds from 24 seconds on.
  ...[22, 30, 50, 70, 90, 110].map((second) =>
    script(
      `paused after ${second} seconds of a start, and no slot to resume`,
      [
        [0, start('a')],
        [second * S, { do: 'pause', of: 'a' }],
      ],
      {
        models: { ...failing({ reserveSlot: { first: 1 } }), agentCall: fixed(20 * S) },
        untilMs: H,
      },
    ),
  ),
  ...['prepareRepository', 'runSetupScript', 'setUpGitHooks', 'setUpSkills', 'openAgent'].map((type) =>
    script(`${type} fails`, [[0, start('a')]], { models: failing({ [type]: { first: 1 } }), untilMs: H }),
  ),
];

/** What may follow when the last item of a run has ended: sandboxes to let go, late rows to wait for, rows to join. */
const AFTERWARDS = {
  'nothing follows': { ...KEPT },
  'rows follow': { ...KEPT, reconcile: { ...SETTLED.reconcile, settleMs: 0 } },
  'late rows follow': { ...KEPT, ...SETTLED },
  'a sandbox follows': {},
  'a sandbox and late rows follow': SETTLED,
  'a sandbox and rows follow': { reconcile: { ...SETTLED.reconcile, settleMs: 0 } },
} as const;
const RETRY = [{ on: ['infra', 'collect'], attempts: 1, initialMs: 30 * M, factor: 1, maxMs: H }] as const;

const SHARED = { placement: { strategy: 'ADD_TO_ANY', sandboxId: null } } as const;

const LAST_ITEMS: Readonly<Record<string, (after: Parameters<typeof plan>[1]) => Script>> = {
  'a success': (after) => script('', [[0, run(1, after)]], { untilMs: D }),
  'a refused start': (after) =>
    script('', [[0, run(1, after)]], { models: failing({ startConversation: { first: 1 } }), untilMs: D }),
  'a start that fails': (after) =>
    script('', [[0, run(1, after)]], { models: failing({ createSandbox: { first: 1 } }), untilMs: D }),
  'a collection that fails': (after) =>
    script('', [[0, run(1, after)]], { models: failing({ collectItem: { first: 1 } }), untilMs: D }),
  'a cancellation while it waits': (after) =>
    script(
      '',
      [
        [0, run(1, { ...after, retry: RETRY as never })],
        [20 * M, { do: 'cancelRun' }],
      ],
      {
        models: failing({ prepareRepository: { first: 1 } }),
        untilMs: D,
      },
    ),
  'a deadline that nobody hears': (after) =>
    script('', [[0, run(1, { ...after, wait: { ...plan(1).wait, deadlineMs: 5 * M } })]], {
      models: { ...agent({ work: fixed(2 * H) }), agentCall: fixed(20 * M) },
      untilMs: D,
    }),
  'a check that cannot be run': (after) =>
    script('', [[0, run(1, { ...after, items: [item(0, { verify: { command: 'true', timeoutMs: M } })] })]], {
      models: failing({ verifyItem: { first: 1 } }),
      untilMs: D,
    }),
  'a stranger in its sandbox': (after) =>
    script(
      '',
      [
        [0, run(1, { ...SHARED, ...after })],
        [5 * M, start('x', { strategy: 'ADD_TO_ANY' })],
      ],
      { untilMs: D },
    ),
  'a cancellation while it waits, another having ended': (after) =>
    script(
      '',
      [
        [0, run(2, { ...SHARED, ...after, retry: RETRY as never })],
        [25 * M, { do: 'cancelRun' }],
      ],
      {
        models: failing({ prepareRepository: { first: 1 } }),
        untilMs: D,
      },
    ),
  'a collection that fails, its sandbox going all the same': (after) =>
    script(
      '',
      [
        [
          0,
          run(1, {
            ...after,
            cleanup: { sandbox: 'delete', conversation: 'keep', onCollectFailure: 'delete' },
          }),
        ],
      ],
      {
        models: failing({ collectItem: { first: 1 } }),
        untilMs: D,
      },
    ),
  'a removal that never ends': (after) =>
    script('', [[0, run(1, after)]], { models: slow({ destroy: fixed(9 * H) }), untilMs: D }),
};

const RUN_SCRIPTS: readonly Script[] = Object.entries(LAST_ITEMS).flatMap(([last, make]) =>
  Object.entries(AFTERWARDS).map(([name, after]) => ({
    ...make(after),
    name: `a run ends with ${last}; ${name}`,
  })),
);

/** The same where the items live in shards: how each of them may end last, and what may follow. */
const SHARD_SCRIPTS: readonly Script[] = RUN_SCRIPTS.filter(
  ({ name }) => name.startsWith('a run ends with a success') || name.endsWith('; nothing follows'),
).map((one) => inShards(one));

export const BASES: readonly Script[] = [
  ...SANDBOX_SCRIPTS,
  ...WORK_SCRIPTS,
  ...POOL_SCRIPTS,
  ...SLOW_SCRIPTS,
  ...RUN_SCRIPTS,
  ...SHARD_SCRIPTS,
  // Shards grow, and close a second time, in no other one.
  ...SCRIPTS_IN_SHARDS.filter(({ name }) => /is amended|is taken up again/.test(name)),
];
export const MORE_SCRIPTS: readonly Script[] = [...SLOW_SCRIPTS, ...RUN_SCRIPTS, ...SHARD_SCRIPTS];

/** For every machine and phase the first bases in which an entity enters it. */
function basesByPhase(): ReadonlyMap<string, readonly Script[]> {
  const found = new Map<string, Script[]>();
  for (const base of BASES) {
    const phases = new Set<string>();
    for (const [entity, steps] of playSimulated(base).traces.byEntity)
      for (const { view } of steps) phases.add(`${entity.split('/')[0] ?? ''} ${String(view['phase'])}`);
    for (const phase of phases) {
      const bases = found.get(phase) ?? [];
      if (bases.length < BASES_PER_PHASE) found.set(phase, [...bases, base]);
    }
  }
  return found;
}

const inPhase =
  (phase: string) =>
  (state: unknown): boolean =>
    (state as { readonly phase: string } | null)?.phase === phase;

export function probedScripts(): readonly ProbedScript[] {
  const everywhere = [...basesByPhase()].flatMap(([reached, bases]) => {
    const [machine, phase] = reached.split(' ') as [MachineName, string];
    return bases.flatMap((base) =>
      Object.entries(PROBE_EVENTS[machine]).map(([name, event]) => ({
        ...base,
        name: `${machine} ${phase}: ${name}; ${base.name}`,
        probe: { machine, when: inPhase(phase), events: [event] },
      })),
    );
  });
  return [...everywhere, ...SPECIAL];
}

const {
  sandbox: SAID_TO_SANDBOX,
  conversation: SAID_TO_CONVERSATION,
  run: SAID_TO_RUN,
  shard: SAID_TO_SHARD,
} = PROBE_EVENTS;
const said = (
  events: Readonly<Record<string, ProbeEvent>>,
  ...names: readonly string[]
): readonly ProbeEvent[] => names.map((name) => events[name] as ProbeEvent);
const itemIn =
  (index: number, phase: string) =>
  (state: unknown): boolean =>
    (state as RunState | null)?.items[index]?.phase === phase;

const CHECKED = script(
  'a check that cannot be run',
  [[0, run(1, { items: [item(0, { verify: { command: 'true', timeoutMs: M } })] })]],
  { untilMs: D },
);

/** What takes two events, or a moment that no phase names. */
const SPECIAL: readonly ProbedScript[] = [
  {
    ...script('deleted while its last archive fails', crashed, {
      models: failing({ archiveWorkspace: { first: 3 } }),
      untilMs: D,
    }),
    probe: {
      machine: 'sandbox',
      when: inPhase('errorArchiving'),
      events: said(SAID_TO_SANDBOX, 'a deletion'),
    },
  },
  ...(['settling', 'reconciling', 'closing'] as const).flatMap((phase) =>
    ['a resume of what failed', 'a plan whose first item is another'].map((event) => ({
      ...script(
        `what failed is taken up again while ${phase}: ${event}`,
        [[0, run(1, { ...KEPT, ...SETTLED, finally: [told()] })]],
        { models: failing({ startConversation: { first: 1 } }), untilMs: D },
      ),
      probe: { machine: 'run' as const, when: inPhase(phase), events: said(SAID_TO_RUN, event) },
    })),
  ),
  ...['an interruption', 'a deletion'].map((event) => ({
    ...script(
      `${event} of one of a batch that is about to stand in the line`,
      [
        [0, start('a')],
        [M, run(1, { placement: { strategy: 'NO_GROUPING', sandboxId: null } })],
      ],
      { policy: { capacity: { ...POLICY.capacity, installationMax: 1 } }, untilMs: 8 * H },
    ),
    probe: {
      machine: 'conversation' as const,
      when: (state: unknown) => inPhase('placing')(state) && (state as ConversationState).spec.runId !== null,
      events: said(SAID_TO_CONVERSATION, event),
    },
  })),
  {
    ...script('deleted in error, then gone', [[0, start('a')]], {
      models: failing({ createSandbox: { first: 1 } }),
      untilMs: H,
    }),
    probe: {
      machine: 'sandbox',
      when: inPhase('errorStopping'),
      events: said(SAID_TO_SANDBOX, 'a deletion', 'gone'),
    },
  },
  {
    ...script('asked to make room with an agent at work', [[0, start('a')]], { untilMs: H }),
    probe: {
      machine: 'sandbox',
      when: (state) =>
        Object.values((state as SandboxState | null)?.attached ?? {}).some(
          ({ activity }) => activity === 'working',
        ),
      events: said(SAID_TO_SANDBOX, 'a pause to make room'),
    },
  },
  {
    ...CHECKED,
    probe: {
      machine: 'run',
      when: itemIn(0, 'verifying'),
      events: said(SAID_TO_RUN, 'a check that could not be run'),
    },
  },
  {
    ...inShards(CHECKED),
    probe: {
      machine: 'shard',
      when: itemIn(0, 'verifying'),
      events: said(SAID_TO_SHARD, 'a check that could not be run'),
    },
  },
  {
    ...script(
      'the last start is refused, another having ended',
      [[0, run(2, { ...SHARED, admission: { concurrency: 1 } })]],
      { untilMs: D },
    ),
    probe: { machine: 'run', when: itemIn(1, 'starting'), events: said(SAID_TO_RUN, 'a refused start') },
  },
  ...POOL_PROBES,
];
