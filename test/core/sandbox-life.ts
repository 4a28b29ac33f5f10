/**
 * Sandboxes in every phase, reached the way they are reached in life.
 * Owns the events a test sends; must not read the machine beyond its state.
 */
import { conversationId, sandboxId, userId } from '../../core/ids.ts';
import { sandboxMachine, type SandboxCommand } from '../../core/sandbox/machine.ts';
import type { SandboxEvent } from '../../core/sandbox/message.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { AgentActivity } from '../../core/machine/snapshot.ts';
import { Life } from './life.ts';

export const SANDBOX = sandboxId('11111111111111111111111111111111');
export const FIRST = conversationId('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1');
export const SECOND = conversationId('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2');
export const USER = userId('u');
export const IDLE_MS = 1_200_000;
export const DELETION_MS = 864_000_000;
export const SPEC = {
  sandboxId: SANDBOX,
  userId: USER,
  createdBy: 'placement',
  limits: { idleTimeMs: IDLE_MS, deletionTimeMs: DELETION_MS },
} as const;

type Short<Type extends SandboxEvent['type']> = Omit<
  Extract<SandboxEvent, { readonly type: Type }>,
  'type' | 'commandId'
>;

export class SandboxLife extends Life<SandboxState | null, SandboxEvent, SandboxCommand> {
  private requests = 0;

  constructor(spec: typeof SPEC | Extract<SandboxEvent, { type: 'created' }>['spec'] = SPEC) {
    super(sandboxMachine, null);
    this.send({ type: 'created', spec });
  }

  get its(): SandboxState {
    if (this.state === null) throw new Error('Cannot look at the sandbox: it is not born');
    return this.state;
  }

  /** The answer that is awaited, or the end of the watch. */
  answer<Type extends SandboxEvent['type']>(type: Type, rest?: Short<Type>, afterMs?: number): this {
    const commandId = this.its.awaiting ?? this.its.watch ?? 'none';
    return this.send({ type, commandId, ...rest } as unknown as SandboxEvent, afterMs);
  }

  attach(id = FIRST, explicit = false): this {
    return this.send({
      type: 'attachRequested',
      requestId: this.request(),
      conversationId: id,
      explicit,
      spec: null,
    });
  }

  notice(activity: AgentActivity, id = FIRST): this {
    const sequence = (this.its.attached[id]?.sequence ?? 0) + 1;
    return this.send({ type: 'agentNoticed', conversationId: id, sequence, activity });
  }

  pause(reason: 'user' | 'capacity' = 'user'): this {
    return this.send({ type: 'pauseRequested', requestId: this.request(), reason });
  }

  resume(id: typeof FIRST | null = FIRST): this {
    return this.send({ type: 'resumeRequested', requestId: this.request(), conversationId: id });
  }

  remove(): this {
    return this.send({ type: 'deleteRequested', requestId: this.request() });
  }

  timer(): this {
    return this.expire({ type: 'deadline' });
  }

  private request(): string {
    this.requests += 1;
    return `r${this.requests}`;
  }
}

export const starting = () => new SandboxLife();
export const running = () => starting().attach().answer('sandboxReady');
export const pausing = () => running().pause();
export const released = () => pausing().answer('sandboxStopped');
export const reserving = () => released().resume();
export const resuming = () => reserving().answer('slotGranted');
const failResume = (life: SandboxLife) => life.answer('sandboxFailed', { reason: 'boot' });
export const resumingLastTry = () => failResume(failResume(resuming()));
export const stopping = () => running().remove();
export const archiving = () => released().remove();
export const archivingByTimer = () => released().timer();
export const failArchive = (life: SandboxLife) => life.answer('archiveFailed', { reason: 'disk' });
export const destroying = () => archiving().answer('workspaceArchived');
export const errorStopping = () => running().answer('runtimeCrashed', { reason: 'oom' });
export const errorArchiving = () => errorStopping().answer('sandboxStopped');
export const inError = () => errorArchiving().answer('workspaceArchived');
export const errorDestroying = () => inError().timer();
export const errorEmpty = () => errorDestroying().answer('sandboxDestroyed');
export const missing = () => destroying().answer('sandboxDestroyed');
