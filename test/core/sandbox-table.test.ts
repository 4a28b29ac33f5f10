/** Every cell of the sandbox's table, absent ones included, against the golden file. */
import type { SandboxEvent } from '../../core/sandbox/message.ts';
import { sandboxMachine } from '../../core/sandbox/machine.ts';
import { SANDBOX_PHASES, type SandboxState } from '../../core/sandbox/state.ts';
import { SANDBOX_TABLE } from '../../core/sandbox/table.ts';
import * as at from './sandbox-life.ts';
import { walkTable } from './table-walk.ts';

const { failArchive, FIRST } = at;
const lastArchive = (life: at.SandboxLife) => failArchive(failArchive(life));
const failedAtStart = () => at.starting().answer('sandboxFailed', { reason: 'image' });

const LIVES: Readonly<Record<string, () => at.SandboxLife>> = {
  starting: at.starting,
  'starting (pause wished)': () => at.starting().pause(),
  running: at.running,
  'running (agent works)': () => at.running().notice('working'),
  pausing: at.pausing,
  'pausing (resume wished)': () => at.pausing().resume(),
  released: at.released,
  reserving: at.reserving,
  'reserving (in the line)': () => at.reserving().answer('slotWaits', { detail: 'capacity' }),
  resuming: at.resuming,
  'resuming (pause wished)': () => at.resuming().pause(),
  'resuming (last try)': at.resumingLastTry,
  stopping: at.stopping,
  'stopping (never ready)': () => at.starting().remove(),
  archiving: at.archiving,
  'archiving (last try, by user)': () => lastArchive(at.archiving()),
  'archiving (last try, by timer)': () => lastArchive(at.archivingByTimer()),
  destroying: at.destroying,
  errorStopping: at.errorStopping,
  'errorStopping (never ready)': failedAtStart,
  'errorStopping (never ready, deleted)': () => failedAtStart().remove(),
  errorArchiving: at.errorArchiving,
  'errorArchiving (last try)': () => lastArchive(at.errorArchiving()),
  'errorArchiving (deleted)': () => at.errorArchiving().remove(),
  'errorArchiving (last try, deleted)': () => lastArchive(at.errorArchiving().remove()),
  error: at.inError,
  errorDestroying: at.errorDestroying,
  'errorDestroying (deleted)': () => at.errorDestroying().remove(),
  errorEmpty: at.errorEmpty,
  missing: at.missing,
};

const awaited = (state: SandboxState) => ({ commandId: state.awaiting ?? 'none' });
const watched = (state: SandboxState) => ({ commandId: state.watch ?? 'none' });
const attach = { type: 'attachRequested', requestId: 'x', conversationId: at.SECOND, spec: null } as const;

const EVENTS: {
  [Type in SandboxEvent['type']]: (state: SandboxState) => Extract<SandboxEvent, { type: Type }>;
} = {
  created: () => ({ type: 'created', spec: at.SPEC }),
  sandboxReady: (state) => ({ type: 'sandboxReady', ...awaited(state) }),
  sandboxFailed: (state) => ({ type: 'sandboxFailed', ...awaited(state), reason: 'r' }),
  sandboxStopped: (state) => ({ type: 'sandboxStopped', ...awaited(state) }),
  stopFailed: (state) => ({ type: 'stopFailed', ...awaited(state), reason: 'r' }),
  workspaceArchived: (state) => ({ type: 'workspaceArchived', ...awaited(state) }),
  archiveFailed: (state) => ({ type: 'archiveFailed', ...awaited(state), reason: 'r' }),
  sandboxDestroyed: (state) => ({ type: 'sandboxDestroyed', ...awaited(state) }),
  destroyFailed: (state) => ({ type: 'destroyFailed', ...awaited(state), reason: 'r' }),
  slotGranted: (state) => ({ type: 'slotGranted', ...awaited(state) }),
  slotRefused: (state) => ({ type: 'slotRefused', ...awaited(state), reason: 'r' }),
  slotWaits: (state) => ({ type: 'slotWaits', ...awaited(state), detail: 'capacity' }),
  roomOffered: () => ({ type: 'roomOffered' }),
  idleReached: (state) => ({ type: 'idleReached', ...watched(state), lastActivityAt: 0, lookedAt: LATE }),
  runtimeGone: (state) => ({ type: 'runtimeGone', commandId: state.awaiting ?? state.watch ?? 'none' }),
  runtimeCrashed: (state) => ({ type: 'runtimeCrashed', ...watched(state), reason: 'r' }),
  runtimeEvicted: (state) => ({ type: 'runtimeEvicted', ...watched(state) }),
  hostLost: () => ({ type: 'hostLost' }),
  runtimeUnknown: (state) => ({ type: 'runtimeUnknown', ...watched(state) }),
  runtimeAnswered: (state) => ({ type: 'runtimeAnswered', ...watched(state) }),
  attachRequested: () => ({ ...attach, explicit: false }),
  detached: () => ({ type: 'detached', conversationId: FIRST }),
  resumeRequested: () => ({ type: 'resumeRequested', requestId: 'x', conversationId: FIRST }),
  pauseRequested: (state) => ({
    type: 'pauseRequested',
    requestId: 'x',
    reason: state.attached[FIRST]?.activity === 'working' ? 'capacity' : 'user',
  }),
  deleteRequested: () => ({ type: 'deleteRequested', requestId: 'x' }),
  startFailed: () => ({ type: 'startFailed', conversationId: FIRST }),
  agentNoticed: () => ({
    type: 'agentNoticed',
    conversationId: FIRST,
    sequence: 9,
    activity: 'confirmation',
  }),
  deadline: () => ({ type: 'deadline' }),
};

/** Later than anything an agent may have done since. */
const LATE = Number.MAX_SAFE_INTEGER;

const shown = (word: string, event: SandboxEvent) => ({ word, event });

walkTable({
  name: 'sandbox',
  machine: sandboxMachine,
  table: SANDBOX_TABLE,
  phases: SANDBOX_PHASES,
  states: Object.entries(LIVES).map(([name, live]) => {
    const life = live();
    return { name, state: life.its, now: life.now };
  }),
  events: EVENTS,
  more: (state, now) => [
    shown('active', {
      type: 'idleReached',
      ...watched(state),
      lastActivityAt: now - at.IDLE_MS + 1,
      lookedAt: now,
    }),
    shown('of another', { type: 'startFailed', conversationId: at.SECOND }),
    shown('explicit', { ...attach, explicit: true }),
  ],
});
