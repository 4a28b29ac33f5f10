/**
 * What becomes of one try of a call of the runtime or of an Agent Server.
 * Owns which faults can strike which call, and what each means for its caller; must not carry anything out.
 */
import type { ActivityCommandType } from '../../core/machine/command.ts';
import type { RandomStream } from '../random.ts';
import type { FaultName } from './catalogue.ts';
import { figureIn } from './figures.ts';
import {
  AGENT_CALL_TIMEOUT_MS,
  NOT_READY,
  REPEATED_CALL,
  SHORTAGE,
  SLOW_CALL,
  UNHEARD,
} from './runtime-figures.ts';

/** What a caller sees in the place of an answer. */
export interface CallError {
  readonly reason: string;
  /** True: a repeat will not help, as with `runtime_failed`. */
  readonly isDefinite: boolean;
  /** Milliseconds until the caller sees it. */
  readonly afterMs: number;
}

export interface Fate {
  /** Milliseconds on top of what the call takes. */
  readonly slowMs: number;
  readonly error: CallError | null;
  /** With an error: whether the call did its work all the same. */
  readonly hasEffect: boolean;
  /** `object`: an object without an owner stays behind. `dead`: its processes had died before the call. */
  readonly leaves: 'object' | 'dead' | null;
  /** What runs out for a while, beginning with this try. */
  readonly shortage: { readonly of: Shortage; readonly forMs: number } | null;
  /** Milliseconds after which the call is carried out once more; null: it is not. */
  readonly repeatedAfterMs: number | null;
  /** Milliseconds between "it is up" and the first answer of its Agent Server; Infinity: there is none. */
  readonly readyAfterMs: number;
  /** The Agent Server dies as soon as it has answered. */
  readonly dies: boolean;
}

export type Shortage = 'disk' | 'quota';
/** Null: the fault does not strike here. */
export type Ask = (fault: FaultName) => RandomStream | null;

export const NORMAL: Fate = {
  slowMs: 0,
  error: null,
  hasEffect: true,
  leaves: null,
  shortage: null,
  repeatedAfterMs: null,
  readyAfterMs: 0,
  dies: false,
};

interface Kind {
  readonly fault: FaultName;
  readonly fate: (stream: RandomStream) => Partial<Fate>;
}

type CallKind = 'start' | 'stop' | 'archive' | 'agent';

/** Calls that reach a runtime or an Agent Server; the others are carried out beside the store. */
export const CALL_KINDS: Readonly<Partial<Record<ActivityCommandType, CallKind>>> = {
  createSandbox: 'start',
  resumeSandbox: 'start',
  stopSandbox: 'stop',
  destroySandbox: 'stop',
  archiveWorkspace: 'archive',
  prepareRepository: 'agent',
  runSetupScript: 'agent',
  setUpGitHooks: 'agent',
  setUpSkills: 'agent',
  openAgent: 'agent',
  deliverItem: 'agent',
  interruptAgent: 'agent',
  verifyItem: 'agent',
  collectItem: 'agent',
};

const refused = (reason: string, isDefinite = false): Partial<Fate> => ({
  error: { reason, isDefinite, afterMs: 0 },
  hasEffect: false,
});
const unheard = (afterMs: number): Partial<Fate> => ({
  error: { reason: 'no answer came', isDefinite: false, afterMs },
  hasEffect: true,
});
/** The runtime says itself whether a retry is of use; a stop or an archive may always be ordered again. */
const DEFINITE_SHARE = 0.3;

const failing = (definiteShare: number): readonly Kind[] => [
  {
    fault: 'runtime_error_before_effect',
    fate: (stream) => refused('the call failed', stream.happens(definiteShare)),
  },
  {
    fault: 'runtime_effect_then_error',
    fate: (stream) => ({
      error: { reason: 'the call failed', isDefinite: stream.happens(definiteShare), afterMs: 0 },
    }),
  },
  { fault: 'runtime_effect_then_timeout', fate: (stream) => unheard(figureIn(UNHEARD, stream)) },
];

const DISK_FULL: Kind = {
  fault: 'runtime_disk_full',
  fate: (stream) => ({ shortage: { of: 'disk', forMs: figureIn(SHORTAGE, stream) } }),
};

/** Of those that decide what the caller sees, the first that strikes does. */
const DECIDING: Readonly<Record<CallKind, readonly Kind[]>> = {
  start: [
    ...failing(DEFINITE_SHARE),
    {
      fault: 'runtime_partial_start',
      fate: (stream) => ({
        ...refused('the object was made and did not start', stream.happens(0.5)),
        leaves: 'object',
      }),
    },
    // Ours by its labels: the next try takes it over.
    {
      fault: 'runtime_name_conflict',
      fate: () => ({ ...refused('the name is taken (409)'), leaves: 'object' }),
    },
    { fault: 'runtime_port_taken', fate: () => refused('the port is taken') },
    {
      fault: 'runtime_quota_refused',
      fate: (stream) => ({ shortage: { of: 'quota', forMs: figureIn(SHORTAGE, stream) } }),
    },
    DISK_FULL,
    { fault: 'agent_never_ready', fate: () => ({ readyAfterMs: Infinity }) },
    { fault: 'runtime_ready_too_early', fate: (stream) => ({ readyAfterMs: figureIn(NOT_READY, stream) }) },
  ],
  stop: [
    ...failing(0),
    {
      fault: 'runtime_wrong_state',
      fate: () => ({ ...refused('it is in another state (409)'), leaves: 'dead' }),
    },
  ],
  archive: [
    ...failing(0),
    { fault: 'archive_truncated', fate: () => refused('the archive has fewer bytes than were sent') },
    { fault: 'archive_corrupt', fate: () => refused('the checksum of the archive is another one') },
    DISK_FULL,
  ],
  agent: [
    {
      fault: 'agent_hangs',
      fate: () => ({
        error: { reason: 'no answer came', isDefinite: false, afterMs: AGENT_CALL_TIMEOUT_MS },
        hasEffect: false,
      }),
    },
    { fault: 'agent_server_error', fate: () => refused('the Agent Server answered 500') },
    { fault: 'agent_half_response', fate: () => unheard(0) },
  ],
};

/** Of any call of a runtime, beside what decides. */
const BESIDE: readonly Kind[] = [
  { fault: 'runtime_slow', fate: (stream) => ({ slowMs: figureIn(SLOW_CALL, stream) }) },
  {
    fault: 'runtime_duplicate_effect',
    fate: (stream) => ({ repeatedAfterMs: figureIn(REPEATED_CALL, stream) }),
  },
];

export function fateOf(kind: CallKind, ask: Ask): Fate {
  let fate: Fate | null = null;
  for (const { fault, fate: decide } of DECIDING[kind]) {
    const stream = ask(fault);
    if (stream === null) continue;
    fate = { ...NORMAL, ...decide(stream) };
    break;
  }
  if (kind === 'agent') return fate ?? NORMAL;
  for (const { fault, fate: decide } of BESIDE) {
    const stream = ask(fault);
    if (stream !== null) fate = { ...(fate ?? NORMAL), ...decide(stream) };
  }
  return fate ?? NORMAL;
}
