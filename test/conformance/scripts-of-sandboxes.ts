/** Scripts about placement, pauses, resumes and deletions. Owns the list; what must come out is equality, and no violation. */
import { GROUPING_STRATEGIES } from '../../core/status.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import type { Script } from '../../simulator/script.ts';
import { agent, BUSY, D, failing, H, M, POLICY, S, script, start } from './script-parts.ts';

const SLOW_BOOT = { ...MODELS_STEADY, runtime: { ...MODELS_STEADY.runtime, boot: fixed(60 * S) } };
const SLOW_STOP = { ...MODELS_STEADY, runtime: { ...MODELS_STEADY.runtime, stop: fixed(60 * S) } };

function waitingResume(what: string, then: Parameters<typeof script>[1][number]): Script {
  return script(
    `a resume waits in the line, and ${what}`,
    [[0, start('a')], [30 * M, start('b')], [31 * M, { do: 'message', name: 'a' }], then],
    {
      models: agent({ work: fixed(2 * M) }),
      policy: { onFull: 'queue', capacity: { ...POLICY.capacity, installationMax: 1 } },
      untilMs: 2 * H,
    },
  );
}

const STRATEGIES: readonly Script[] = GROUPING_STRATEGIES.map((strategy) =>
  script(
    `grouping ${strategy.toLowerCase()}: four conversations one after the other`,
    [
      [0, start('a')],
      [30 * S, start('b')],
      [M, start('c', { strategy })],
      [2 * M, { do: 'message', name: 'a' }],
      [3 * M, start('d', { strategy })],
    ],
    { policy: { capacity: { ...POLICY.capacity, conversationsPerSandboxMax: 3 } }, untilMs: 2 * H },
  ),
);

export const SANDBOX_SCRIPTS: readonly Script[] = [
  ...STRATEGIES,
  script('idle pause, then deletion time with its archive', [[0, start('a')]]),
  script(
    'a user pauses a resting sandbox',
    [
      [0, start('a')],
      [30 * M, { do: 'message', name: 'a' }],
      [31 * M, { do: 'pause', of: 'a' }],
    ],
    { untilMs: 2 * H },
  ),
  script(
    'paused to make room',
    [
      [0, start('a')],
      [19 * M, start('b')],
    ],
    {
      policy: { onFull: 'pause_longest_idle', capacity: { ...POLICY.capacity, installationMax: 1 } },
      untilMs: 2 * H,
    },
  ),
  script(
    'a slot is waited for',
    [
      [0, start('a')],
      [M, start('b')],
    ],
    {
      models: agent({ work: fixed(2 * M) }),
      policy: { onFull: 'queue', capacity: { ...POLICY.capacity, userMax: 1 } },
      untilMs: 2 * H,
    },
  ),
  waitingResume('gets the slot that is given back', [40 * M, { do: 'pause', of: 'b' }]),
  waitingResume('is paused there', [35 * M, { do: 'pause', of: 'a' }]),
  script(
    'no slot for a start, none for a resume',
    [
      [0, start('a')],
      [30 * S, start('b')],
      [2 * H, start('c')],
      [2 * H + M, { do: 'message', name: 'a' }],
    ],
    { policy: { capacity: { ...POLICY.capacity, installationMax: 1 } }, untilMs: 6 * H },
  ),
  script('agent-paused for a confirmation, answered by its user', [[0, start('a')]], {
    models: agent({ confirmation: { share: 1, answerAfter: fixed(7 * M) } }),
    untilMs: 2 * H,
  }),
  script(
    'agent-paused for a confirmation that outlives the idle pause',
    [
      [0, start('a')],
      [3 * H, { do: 'confirm', name: 'a' }],
    ],
    { models: agent({ confirmation: { share: 1, answerAfter: null } }), untilMs: 5 * H },
  ),
  script('agent-paused by a rate limit, goes on by itself', [[0, start('a')]], {
    models: agent({ rateLimit: { share: 1, wait: fixed(5 * M) } }),
    untilMs: 2 * H,
  }),
  script(
    'a message resumes, with two more behind it',
    [
      [0, start('a')],
      [3 * H, { do: 'message', name: 'a' }],
      [3 * H, { do: 'message', name: 'a' }],
      [3 * H + S, { do: 'message', name: 'a' }],
    ],
    { untilMs: 6 * H },
  ),
  script(
    'reading the workspace resumes',
    [
      [0, start('a')],
      [3 * H, { do: 'access', name: 'a' }],
    ],
    { untilMs: 6 * H },
  ),
  script(
    'the cap of a session strikes while the agent works',
    [
      [0, start('a')],
      [14 * H, { do: 'message', name: 'a' }],
    ],
    { models: BUSY, untilMs: 40 * H },
  ),
  script('quiet work with a lease is not idle', [[0, start('a')]], {
    models: agent({ quiet: { share: 1, length: fixed(50 * M), leased: 1 } }),
    untilMs: 5 * H,
  }),
  script(
    'quiet work without a lease idles out',
    [
      [0, start('a')],
      [4 * H, { do: 'message', name: 'a' }],
    ],
    {
      models: agent({ quiet: { share: 1, length: fixed(50 * M), leased: 0 } }),
      untilMs: 8 * H,
    },
  ),
  script('an archive fails twice, then succeeds', [[0, start('a')]], {
    models: failing({ archiveWorkspace: { first: 2 } }),
  }),
  script('an archive fails for good: the deletion of a timer waits', [[0, start('a')]], {
    models: failing({ archiveWorkspace: { first: 4 } }),
  }),
  script(
    'an archive fails for good: the deletion of a user goes on',
    [
      [0, start('a')],
      [H, { do: 'delete', of: 'a' }],
    ],
    {
      models: failing({ archiveWorkspace: { first: 3 } }),
      untilMs: 3 * H,
    },
  ),
  script(
    'a message to a sandbox that is being deleted, and does not stop',
    [
      [0, start('a')],
      [30 * M, { do: 'delete', of: 'a' }],
      [31 * M, { do: 'message', name: 'a' }],
    ],
    { models: failing({ stopSandbox: { first: 7 } }), untilMs: 2 * H },
  ),
  script(
    'stops and removals that are not confirmed',
    [
      [0, start('a')],
      [H, { do: 'message', name: 'a' }],
      [2 * H, { do: 'delete', of: 'a' }],
    ],
    {
      models: failing({ stopSandbox: { first: 7 }, destroySandbox: { first: 3 } }),
      untilMs: 6 * H,
    },
  ),
  script(
    'a shared sandbox is deleted under three conversations',
    [
      [0, start('a')],
      [M, start('b', { strategy: 'ADD_TO_ANY' })],
      [2 * M, start('c', { in: 'a' })],
      [5 * M, { do: 'delete', of: 'b' }],
      [6 * M, { do: 'message', name: 'c' }],
    ],
    { untilMs: 2 * H },
  ),
  script(
    'a shared sandbox is deleted under three conversations, one of them at work',
    [
      [0, start('a')],
      [M, start('b', { strategy: 'ADD_TO_ANY' })],
      [2 * M, start('c', { in: 'a' })],
      [19 * M + 30 * S, { do: 'delete', of: 'b' }],
      [21 * M, { do: 'message', name: 'c' }],
    ],
    { untilMs: 2 * H },
  ),
  script(
    'the last of two conversations takes the sandbox along',
    [
      [0, start('a')],
      [M, start('b', { in: 'a' })],
      [H, { do: 'remove', name: 'a' }],
      [2 * H, { do: 'remove', name: 'b' }],
    ],
    { untilMs: 4 * H },
  ),
  script(
    'a sandbox made by itself outlives its conversations',
    [
      [0, { do: 'create', sandbox: 'box' }],
      [M, start('a', { in: 'box' })],
      [H, { do: 'remove', name: 'a' }],
    ],
    { untilMs: 4 * H },
  ),
  script(
    'a start that fails leaves a sandbox up that was made by itself',
    [
      [0, { do: 'create', sandbox: 'box' }],
      [M, start('a', { in: 'box' })],
    ],
    { models: failing({ prepareRepository: { first: 1 } }), untilMs: H },
  ),
  script(
    'explicit placement resumes a released sandbox',
    [
      [0, start('a')],
      [3 * H, start('b', { in: 'a' })],
    ],
    { untilMs: 6 * H },
  ),
  script('explicit placement in an unknown sandbox is refused', [[0, start('a', { in: 'nowhere' })]], {
    untilMs: H,
  }),
  script(
    'a pause is wished while starting',
    [
      [0, start('a')],
      [10 * S, { do: 'pause', of: 'a' }],
    ],
    { models: SLOW_BOOT, untilMs: 3 * H },
  ),
  script(
    'a pause wished while starting is taken back',
    [
      [0, start('a')],
      [10 * S, { do: 'pause', of: 'a' }],
      [20 * S, { do: 'resume', of: 'a' }],
    ],
    { models: SLOW_BOOT, untilMs: 3 * H },
  ),
  script(
    'a resume is wished while pausing',
    [
      [0, start('a')],
      [H, { do: 'message', name: 'a' }],
      [H + M, { do: 'pause', of: 'a' }],
      [H + M + 10 * S, { do: 'message', name: 'a' }],
    ],
    { models: SLOW_STOP, untilMs: 4 * H },
  ),
  script(
    'placement is refused by a sandbox that is going, then replaced',
    [
      [0, start('a')],
      [H, { do: 'delete', of: 'a' }],
      [H, { do: 'mislead', of: 'a' }],
      [H + S, start('b', { strategy: 'ADD_TO_ANY' })],
    ],
    { models: SLOW_STOP, untilMs: 4 * H },
  ),
  script(
    'a resume fails twice, then for good',
    [
      [0, start('a')],
      [2 * H, { do: 'message', name: 'a' }],
      [5 * H, { do: 'message', name: 'a' }],
    ],
    {
      models: failing({ resumeSandbox: { first: 5 } }),
      untilMs: 8 * H,
    },
  ),
  script(
    'a boot fails: ERROR until its deletion',
    [
      [0, start('a')],
      [H, { do: 'message', name: 'a' }],
    ],
    { models: failing({ createSandbox: { first: 1 } }) },
  ),
  script(
    'a runtime crashes under work: ERROR, then deleted',
    [
      [0, start('a')],
      [5 * M, { do: 'lose', of: 'a', loss: 'crashed' }],
      [2 * H, { do: 'delete', of: 'a' }],
    ],
    { untilMs: 4 * H },
  ),
  script(
    'a host is drained under work: paused, and resumed for the next message',
    [
      [0, start('a')],
      [5 * M, { do: 'lose', of: 'a', loss: 'evicted' }],
      [H, { do: 'message', name: 'a' }],
    ],
    { untilMs: 4 * H },
  ),
  script(
    'a runtime is gone',
    [
      [0, start('a')],
      [5 * M, { do: 'lose', of: 'a', loss: 'gone' }],
      [H, { do: 'message', name: 'a' }],
    ],
    { untilMs: 4 * H },
  ),
  script(
    'a runtime cannot be asked for a while',
    [
      [0, start('a')],
      [5 * M, { do: 'lose', of: 'a', loss: 'unknown' }],
      [10 * M, { do: 'find', of: 'a' }],
    ],
    { untilMs: 4 * H },
  ),
  script(
    'nothing is idle and nothing is deleted when both times are 0',
    [
      [0, start('a')],
      [20 * H, { do: 'message', name: 'a' }],
    ],
    {
      policy: { limits: { idleTimeMs: null, deletionTimeMs: null } },
      untilMs: 3 * D,
    },
  ),
];
