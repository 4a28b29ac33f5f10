/**
 * Placements and resumes while slots may be short: one try, and what the policy says when all are taken (D17).
 * Owns the tries; a sandbox with a working agent is never ordered to make room.
 */
import type { CommandOf, MachineEvent } from '../../core/machine/command.ts';
import { userId, type SandboxId } from '../../core/ids.ts';
import { describeWait, pollForRoomMs, type TakenSlots } from '../../core/placement/line.ts';
import { longestIdle } from '../../core/placement/longest-idle.ts';
import { mayAskAgain } from '../../core/placement/place-in-pool.ts';
import { isResuming } from '../../core/sandbox/row.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import { draw } from './distribution.ts';
import { failureOf, type Failures } from './failures.ts';
import type { ModelOptions, Policy } from './model-options.ts';
import type { PlacementModel } from './placement-model.ts';

/** Waits between two tries, as a driver's retries do: doubled up to the bound. */
const RETRY_MS = { initial: 500, max: 15_000 } as const;

export type Slotted = CommandOf<'placeConversation' | 'reserveSlot'>;

interface Parts {
  readonly port: ModelPort;
  readonly models: ModelOptions;
  readonly policy: Policy;
  readonly random: RandomStream;
  readonly placement: PlacementModel;
  readonly failures: Failures;
  readonly lastActivityAt: (id: SandboxId) => number;
}

export class SlotSeeker {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  seek(command: Slotted): void {
    const { models, random } = this.parts;
    this.tryAfter(draw(models.agentCall, random.split(`time/${command.id}`)), command, 0);
  }

  private tryAfter(waitMs: number, command: Slotted, tries: number): void {
    const { port, failures } = this.parts;
    port.later(command.id, port.now() + waitMs, () => {
      const fails = tries === 0 && failures.fails(command);
      if (fails && command.type === 'reserveSlot') return port.answer(command, failureOf(command));
      if (this.attempt(command, fails)) return;
      const longestMs = this.parts.models.slotRetryMaxMs ?? RETRY_MS.max;
      this.tryAfter(Math.min(longestMs, RETRY_MS.initial * 2 ** Math.min(tries, 10)), command, tries + 1);
    });
  }

  /**
   * Whether it was answered; else its pool is full, and it is tried again. A placement that fails for good is refused
   * within its transaction: whatever else goes wrong with the store is tried again.
   */
  private attempt(command: Slotted, fails: boolean): boolean {
    const { port, placement, policy, lastActivityAt } = this.parts;
    const commandId = command.id;
    if (command.type === 'reserveSlot') {
      port.answer(command, this.reserve(command));
      return true;
    }
    const outcome = placement.place(command, { now: port.now(), lastActivityAt, fails });
    const left = outcome.leftBehind === undefined ? {} : { leftBehind: outcome.leftBehind };
    // A conversation that leaves the line may have been next in it.
    const passesOn = outcome.leftLine === true || outcome.leftBehind !== undefined;
    if (command.onlyLeaves === true || passesOn) offerRoom(port, placement);
    if (outcome.kind === 'waits') {
      port.answer(command, {
        type: 'placementWaits',
        commandId,
        ...this.answerWait(command, outcome.slots),
        ...left,
      });
      return true;
    }
    if (outcome.kind === 'refused') {
      if (mayAskAgain(outcome.refusal, command.pool)) return false;
      const { code, reason } = outcome.refusal;
      port.answer(command, { type: 'placementRefused', commandId, code, reason, ...left });
      return true;
    }
    const { sandboxId, created } = outcome;
    const spec = created
      ? { sandboxId, userId: command.userId, createdBy: 'placement' as const, limits: policy.limits }
      : null;
    const spilled = outcome.spilled === true ? { spilled: true as const } : {};
    port.answer(command, { type: 'placed', commandId, sandboxId, spec, ...left, ...spilled });
    return true;
  }

  private reserve(command: CommandOf<'reserveSlot'>): MachineEvent {
    const { placement, policy } = this.parts;
    const { id: commandId, sandboxId: waiterId, inRun = false } = command;
    const user = userId(command.userId);
    // A slot for a resume that was given up meanwhile would never be given back.
    const row = placement.rows.get(waiterId);
    if (row !== undefined && !isResuming(row, command.generation))
      return { type: 'slotRefused', commandId, reason: 'the resume was given up' };
    const full = placement.slots.take(waiterId, user, waiterId);
    if (full?.kind === 'no_host') return { type: 'slotRefused', commandId, reason: full.reason };
    if (full !== null && (inRun || policy.onFull !== 'refuse')) {
      placement.slots.joinLine({ waiterId, machine: 'sandbox', userId: user });
      return { type: 'slotWaits', commandId, ...this.answerWait(command, { ...full, ofRun: null }) };
    }
    placement.slots.leaveLine(waiterId);
    if (full === null) return { type: 'slotGranted', commandId };
    return { type: 'slotRefused', commandId, reason: `${full.current} of ${full.limit} sandboxes are up` };
  }

  private answerWait(command: Slotted, slots: TakenSlots) {
    const detail = describeWait(slots);
    if (this.parts.policy.onFull !== 'pause_longest_idle') return { detail };
    this.makeRoom(command, slots);
    return { detail, lookAgainMs: pollForRoomMs(slots.position) };
  }

  private makeRoom(command: Slotted, { position, waitsFor }: TakenSlots): void {
    const { placement, lastActivityAt } = this.parts;
    const rows = [...placement.slots.holders.keys()].flatMap((held) => placement.rows.get(held) ?? []);
    const holders = rows.map((row) => ({
      ...row,
      draining: placement.isGoing(row.sandboxId),
      lastActivityAt: lastActivityAt(row.sandboxId),
      isAtWork: placement.hasWork(row.sandboxId),
      host: placement.slots.hostOf(row.sandboxId),
    }));
    const id = longestIdle(holders, { wanted: position, hosts: waitsFor?.hosts });
    if (id === null) return;
    const requestId = `capacity/${command.id}/${id}`;
    this.parts.port.deliver(
      { machine: 'sandbox', id },
      { type: 'pauseRequested', requestId, reason: 'capacity' },
    );
  }
}

/** The next waiter in the line gets an event to try again (D29). */
export function offerRoom(port: ModelPort, placement: PlacementModel): void {
  for (const { machine, waiterId: id } of placement.slots.nextInLine())
    port.deliver({ machine, id }, { type: 'roomOffered' });
}
