/**
 * What a case leans towards, so that rare transitions are taken often enough.
 * Owns which leaning helps which transition; without an aim every leaning has a small share of its own.
 */
import type { ActivityCommandType } from '../../core/machine/command.ts';
import { CONVERSATION_PHASES } from '../../core/conversation/state.ts';
import { RUN_PHASES } from '../../core/run/state.ts';
import { SANDBOX_PHASES } from '../../core/sandbox/state.ts';
import { HOUR_MS, SECOND_MS } from '../../core/time.ts';
import type { RandomStream } from '../random.ts';
import { between, pick } from './choose.ts';
import type { PlanConstraints } from './random-plan.ts';
import type { Asked, Reaction } from './reactions.ts';
import type { Transition } from './transitions.ts';

export interface Leanings extends Omit<PlanConstraints, 'itemsMax'> {
  /** Calls take from half a minute to minutes, or are overdue: longer than the machines wait. */
  readonly pace: 'usual' | 'slow' | 'overdue';
  /** Stops and removals fail for hours at first. */
  readonly stubborn: boolean;
  /** Steps of a start and of a run's end that fail often. */
  readonly failing: readonly ActivityCommandType[];
  /** Slots are short and conversations that come wait. */
  readonly crowded: boolean;
  /** Deletion comes within hours of a release. */
  readonly shortLived: boolean;
  /** Runs have few items. */
  readonly short: boolean;
  /** Messages between machines are late; `much`: nearly every one, and the answers of commands, too. */
  readonly delayed: 'no' | 'some' | 'much';
  /** Slots are short and change owners within minutes, one conversation to a sandbox. */
  readonly turnover: boolean;
  /** Placements read old rows: sandboxes that cannot take a conversation in are chosen. */
  readonly misread: boolean;
  readonly reactions: readonly Reaction[];
}

/** A reaction comes soon after the entry, or some time in the phases that last. */
const SOON_MS = 90 * SECOND_MS;
const SOME_TIME_MS = 8 * HOUR_MS;
const LASTING: readonly string[] = [
  'run running',
  'conversation active',
  'sandbox running',
  'sandbox released',
];

const NONE: Leanings = {
  pace: 'usual',
  stubborn: false,
  failing: [],
  crowded: false,
  shortLived: false,
  settle: null,
  hasty: false,
  retry: null,
  tells: null,
  warms: false,
  short: false,
  delayed: 'no',
  turnover: false,
  misread: false,
  reactions: [],
};

/** Requests that users can send to each machine. */
const ASKED = {
  sandbox: ['deleteRequested', 'pauseRequested', 'resumeRequested'],
  conversation: [
    'deleteRequested',
    'messageReceived',
    'interruptRequested',
    'accessRequested',
    'confirmationAnswered',
  ],
  run: ['cancelRequested', 'drainRequested', 'resumeRequested', 'requeueRequested', 'planAmended'],
  // Users send them to its run.
  shard: [],
} as const satisfies Readonly<Record<Transition['machine'], readonly Asked[]>>;

const PHASES = { sandbox: SANDBOX_PHASES, conversation: CONVERSATION_PHASES, run: RUN_PHASES } as const;

export function randomLeanings(stream: RandomStream): Leanings {
  return {
    ...NONE,
    pace: pick(stream, ['usual', 'slow', 'overdue'], [6, 2, 1]),
    stubborn: stream.happens(0.04),
    crowded: stream.happens(0.2),
    shortLived: stream.happens(0.3),
    hasty: stream.happens(0.05),
    short: stream.happens(0.3),
    reactions: Array.from({ length: between(stream, 0, 3) }, () => randomReaction(stream)),
  };
}

function randomReaction(stream: RandomStream): Reaction {
  const machine = pick(stream, ['sandbox', 'conversation', 'run'] as const);
  const phase = pick<string>(stream, PHASES[machine]);
  const when = { share: 0.5, withinMs: within(machine, phase) };
  if (machine === 'conversation' && stream.happens(0.3))
    return { machine, phase, asked: pick(stream, ASKED.sandbox), of: 'sandbox', ...when };
  return { machine, phase, asked: pick<Asked>(stream, ASKED[machine]), of: 'self', ...when };
}

function within(machine: Transition['machine'], phase: string): number {
  return LASTING.includes(`${machine} ${phase}`) ? SOME_TIME_MS : SOON_MS;
}

/** Changes nothing that matters, and gives the faults of clients, store and worker something to strike. */
function harmless({ machine, from }: Transition): Reaction {
  const when = { machine, phase: from, share: 0.6, withinMs: SOON_MS };
  switch (machine) {
    case 'sandbox':
      return { ...when, asked: 'metadataChanged', of: 'conversation' };
    case 'conversation':
      return { ...when, asked: 'metadataChanged', of: 'self' };
    case 'run':
    case 'shard':
      return { ...when, asked: 'settingsChanged', of: 'self' };
  }
}

/** What helps this transition, on top of chance. */
export function leaningsFor(transition: Transition, stream: RandomStream): Leanings {
  const pace = stream.happens(0.6) ? 'slow' : 'usual';
  const base: Leanings = {
    ...NONE,
    pace,
    shortLived: stream.happens(0.5),
    delayed: transition.from === 'attaching' || stream.happens(0.1) ? 'some' : 'no',
    reactions: [harmless(transition)],
  };
  const asked = (ASKED[transition.machine] as readonly string[]).includes(transition.event);
  const { machine, from, event } = transition;
  const when = { machine, phase: from, of: 'self', share: 0.7, withinMs: within(machine, from) } as const;
  const leanings = asked
    ? { ...base, reactions: [...base.reactions, { ...when, asked: event as Asked }] }
    : base;
  switch (transition.machine) {
    case 'sandbox':
      return ofSandbox(transition, leanings);
    case 'conversation':
      return ofConversation(transition, leanings);
    case 'run':
      return ofRun(transition, leanings);
    case 'shard':
      return leanings;
  }
}

function ofSandbox({ from, event, to }: Transition, base: Leanings): Leanings {
  const failing = FAILING_INTO[from] ?? [];
  const deletes = { asked: 'deleteRequested', of: 'self', share: 0.7, withinMs: SOON_MS } as const;
  const phaseBefore = from === 'errorDestroying' && to === 'missing' ? 'error' : null;
  const reactions =
    phaseBefore === null
      ? base.reactions
      : [...base.reactions, { machine: 'sandbox', phase: phaseBefore, ...deletes } as const];
  const overdue = event === 'deadline' && from !== 'running' && from !== 'released' && from !== 'error';
  return {
    ...base,
    reactions,
    failing: event.endsWith('Failed') || from.startsWith('error') ? failing : [],
    pace: overdue ? 'overdue' : base.pace,
    crowded: from === 'reserving',
    shortLived: base.shortLived || from === 'released' || from === 'archiving' || from === 'error',
  };
}

/** What has to fail so that a sandbox comes into this phase, or leaves it by a failure. */
const FAILING_INTO: Readonly<Record<string, readonly ActivityCommandType[]>> = {
  starting: ['createSandbox'],
  reserving: ['reserveSlot'],
  resuming: ['resumeSandbox'],
  archiving: ['archiveWorkspace'],
  errorStopping: ['createSandbox'],
  errorArchiving: ['archiveWorkspace'],
  error: ['createSandbox'],
  errorDestroying: ['createSandbox'],
  errorEmpty: ['createSandbox'],
};

function ofConversation({ from, event, to }: Transition, base: Leanings): Leanings {
  const hurt = {
    machine: 'conversation',
    phase: from,
    of: 'sandbox',
    share: 0.6,
    withinMs: SOON_MS,
  } as const;
  // It lasts as long as two messages are on their way, and has to be entered when the start's time is nearly over.
  if (event === 'deadline' && from === 'attaching') return { ...base, turnover: true, delayed: 'much' };
  if (event === 'deadline') return { ...base, pace: 'overdue', crowded: from === 'placing' };
  if (from === 'attaching' && (to === 'startFailed' || to === 'placing')) return { ...base, misread: true };
  if (event === 'stepFailed') return { ...base, failing: [...STEPS] };
  if (event === 'placementRefused') return { ...base, failing: ['placeConversation'] };
  if (event === 'sandboxNoticed' && (to === 'startFailed' || to === 'readOnly'))
    return { ...base, reactions: [...base.reactions, { ...hurt, asked: 'deleteRequested' }] };
  // The sandbox is gone, the report of it is late, and a user writes meanwhile.
  if (event === 'resumeAnswered' && from === 'active' && to === 'readOnly') {
    return {
      ...base,
      pace: 'usual',
      delayed: 'much',
      shortLived: true,
      reactions: [
        ...base.reactions,
        {
          machine: 'sandbox',
          phase: 'released',
          asked: 'deleteRequested',
          of: 'self',
          share: 0.5,
          withinMs: HOUR_MS,
        },
        ...['archiving', 'destroying', 'missing'].map((phase): Reaction => ({
          machine: 'sandbox',
          phase,
          asked: 'messageReceived',
          of: 'conversation',
          share: 0.8,
          withinMs: SOON_MS,
        })),
      ],
    };
  }
  if (event === 'resumeAnswered') {
    return {
      ...base,
      failing: to === 'startFailed' ? ['reserveSlot', 'resumeSandbox'] : [],
      reactions: [
        ...base.reactions,
        { ...hurt, asked: 'pauseRequested' },
        ...(from === 'active' ? [{ ...hurt, asked: 'deleteRequested', share: 0.2 } as const] : []),
      ],
    };
  }
  return base;
}

const STEPS = [
  'prepareRepository',
  'runSetupScript',
  'setUpGitHooks',
  'setUpSkills',
  'openAgent',
] as const satisfies readonly ActivityCommandType[];

function ofRun({ from, event, to }: Transition, base: Leanings): Leanings {
  const settle = SETTLE[to] ?? (from === 'settling' ? 'later' : from === 'reconciling' ? 'atOnce' : null);
  const toReporting = to === 'reporting' && from !== 'reconciling' ? 'none' : settle;
  const tells = from === 'closing' || to === 'closing' ? true : from === 'reporting' ? false : null;
  const leanings: Leanings = { ...base, settle: toReporting, tells, short: true };
  switch (event) {
    case 'startRefused':
      return { ...leanings, failing: ['startConversation'], retry: 'none' };
    case 'collectFailed':
      return { ...leanings, failing: ['collectItem'], retry: 'none' };
    case 'conversationNoticed':
      return { ...leanings, failing: from === 'running' ? ['prepareRepository'] : [], retry: 'none' };
    case 'notifyFailed':
      return { ...leanings, failing: ['notifyOfRun'] };
    case 'reconcileFailed':
      return { ...leanings, failing: ['reconcileRun'] };
    case 'poolWarmed':
      return { ...leanings, warms: true, pace: 'slow', reactions: [...base.reactions, CANCELLED_EARLY] };
    case 'cancelRequested':
      return { ...leanings, failing: ['prepareRepository', 'startConversation'], retry: 'long' };
    case 'resumeRequested':
    case 'planAmended':
      return { ...leanings, failing: ['prepareRepository'], retry: 'none' };
    case 'deadline':
      return from === 'cleaning'
        ? { ...leanings, stubborn: true }
        : { ...leanings, hasty: from === 'running', retry: 'none', pace: 'overdue' };
    default:
      return leanings;
  }
}

/** Before its pool is made: no conversation waits then, and the answer is all that the end waits for. */
const CANCELLED_EARLY: Reaction = {
  machine: 'run',
  phase: 'running',
  asked: 'cancelRequested',
  of: 'self',
  share: 0.9,
  withinMs: 20 * SECOND_MS,
};

const SETTLE: Readonly<Record<string, Leanings['settle']>> = { settling: 'later', reconciling: 'atOnce' };
