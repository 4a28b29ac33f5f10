/**
 * Commands carried out as a driver does it when calls fail: tried again with a wait, until an answer or the last try.
 * Owns tries and what a caller sees of each; which fault strikes a try is decided in simulator/faults/.
 */
import type { ActivityCommand, MachineEvent } from '../../core/machine/command.ts';
import type { SandboxId } from '../../core/ids.ts';
import { retryOf } from '../../core/machine/resource.ts';
import { waitBeforeRetry } from '../../core/machine/retry.ts';
import { CALL_KINDS, fateOf, NORMAL, type Ask, type CallError, type Fate } from '../faults/runtime-fates.ts';
import type { RuntimeIncidents } from '../faults/runtime-incidents.ts';
import type { Injector } from '../faults/injector.ts';
import { Opportunities, senderOf } from '../faults/opportunities.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import { draw } from './distribution.ts';
import { failureOf, type Failures } from './failures.ts';
import { durationOf, type ModelOptions } from './model-options.ts';
import { isAnswer, type CarriedOut, type Outcomes } from './outcomes.ts';
import type { RuntimeModel } from './runtime-model.ts';

interface Parts {
  readonly port: ModelPort;
  readonly models: ModelOptions;
  readonly random: RandomStream;
  readonly failures: Failures;
  readonly runtime: RuntimeModel;
  readonly outcomes: Outcomes;
  readonly injector: Injector;
  readonly incidents: RuntimeIncidents;
}

interface Try {
  readonly command: CarriedOut;
  /** Tries before this one, by this worker. */
  readonly tried: number;
  /** Unique name of this try: the command, who carries it out, and which try it is. */
  readonly name: string;
}

const SHORT_OF = { start: ['disk', 'quota'], archive: ['disk'], stop: [], agent: [] } as const;

export class Attempts {
  private readonly parts: Parts;
  private readonly opportunities: Opportunities;
  /** How often a command was handed out: a worker that takes over begins anew. */
  private readonly begun = new Map<string, number>();

  constructor(parts: Parts) {
    this.parts = parts;
    this.opportunities = new Opportunities(parts.port, parts.injector);
  }

  begin(command: CarriedOut): void {
    const count = (this.begun.get(command.id) ?? 0) + 1;
    this.begun.set(command.id, count);
    this.try({ command, tried: 0, name: count === 1 ? command.id : `${command.id}/${count}` });
  }

  private try(one: Try): void {
    const { port, models, random } = this.parts;
    const { command, name } = one;
    const fate = this.fateOf(one);
    const takesMs = draw(durationOf(models, command.type), random.split(`time/${name}`));
    port.later(command.id, port.now() + takesMs + fate.slowMs, () => this.reach(one, fate));
  }

  private fateOf({ command, name }: Try): Fate {
    const kind = CALL_KINDS[command.type];
    if (kind === undefined) return NORMAL;
    const about = senderOf(command.id);
    const ask: Ask = (fault) => this.opportunities.strikes(fault, name, about);
    return fateOf(kind, ask);
  }

  /** The call arrives. */
  private reach(one: Try, fate: Fate): void {
    const { port, failures, incidents } = this.parts;
    const { command } = one;
    if (one.tried === 0 && failures.fails(command)) return port.answer(command, failureOf(command));
    if (fate.shortage !== null) incidents.runShort(fate.shortage.of, fate.shortage.forMs);
    const obstacle = this.obstacle(command);
    if (obstacle !== null) return this.failed(one, obstacle);
    this.leaveBehind(command, fate);
    if (fate.error !== null && !fate.hasEffect) return this.failed(one, fate.error);
    this.takeEffect(one, fate);
  }

  private takeEffect(one: Try, fate: Fate): void {
    const { port, outcomes } = this.parts;
    const { command } = one;
    const outcome = outcomes.of(command);
    if (!isAnswer(outcome)) return this.failed(one, outcome);
    this.repeat(command, fate);
    if (fate.error !== null) return this.failed(one, fate.error);
    if (command.type === 'createSandbox' || command.type === 'resumeSandbox')
      return this.waitUntilReady(one, fate, outcome);
    port.answer(command, outcome);
  }

  /** A start is answered when the Agent Server answers, never before: that is what the port promises. */
  private waitUntilReady(one: Try, fate: Fate, outcome: MachineEvent | null): void {
    const { port, runtime, incidents } = this.parts;
    const { command } = one;
    if (command.type !== 'createSandbox' && command.type !== 'resumeSandbox') return;
    const { sandboxId, generation, deadline } = command;
    const answer = (): void => {
      if (runtime.isUp(sandboxId, generation)) {
        runtime.ready(sandboxId, generation);
        return port.answer(command, outcome);
      }
      this.failed(one, { reason: runtime.whyOf(sandboxId), isDefinite: true, afterMs: 0 });
    };
    if (outcome?.type !== 'sandboxReady') return port.answer(command, outcome);
    if (incidents.isLooping(sandboxId)) incidents.dies(sandboxId, 'the Agent Server died');
    const readyAt = port.now() + fate.readyAfterMs;
    if (readyAt === port.now()) return answer();
    if (readyAt < deadline) return port.later(command.id, readyAt, answer);
    port.later(command.id, deadline, () => {
      runtime.giveUp(sandboxId, generation);
      this.failed(one, { reason: 'no answer by the deadline', isDefinite: true, afterMs: 0 });
    });
  }

  /** The call itself, once more: no activity asks whether it is still wanted, so only the runtime's fence can. */
  private repeat(command: CarriedOut, { repeatedAfterMs }: Fate): void {
    if (repeatedAfterMs === null) return;
    this.opportunities.after(repeatedAfterMs, () => this.parts.outcomes.repeat(command));
  }

  private leaveBehind(command: CarriedOut, { leaves }: Fate): void {
    if (leaves === null || !('sandboxId' in command)) return;
    const { runtime, incidents } = this.parts;
    const { sandboxId } = command;
    if (sandboxId === null) return;
    if (leaves === 'object') runtime.leave(sandboxId);
    else if (runtime.live.has(sandboxId)) incidents.dies(sandboxId, 'it ended by itself');
  }

  private obstacle(command: CarriedOut): CallError | null {
    const kind = CALL_KINDS[command.type];
    const id = sandboxOf(command);
    if (kind === undefined || id === null) return null;
    return this.parts.incidents.obstacle(id, SHORT_OF[kind]);
  }

  private failed(one: Try, { reason, isDefinite, afterMs }: CallError): void {
    const { port } = this.parts;
    const { command, tried, name } = one;
    const waitMs = isDefinite ? null : waitBeforeRetry(retryOf(command.type), tried);
    const base = name.slice(0, tried === 0 ? undefined : name.lastIndexOf('+'));
    const next = (): void =>
      waitMs === null
        ? port.answer(command, failureOf(command, reason))
        : this.try({ command, tried: tried + 1, name: `${base}+${tried + 1}` });
    const totalMs = afterMs + (waitMs ?? 0);
    if (totalMs === 0) return next();
    port.later(command.id, port.now() + totalMs, next);
  }
}

function sandboxOf(command: ActivityCommand): SandboxId | null {
  return 'sandboxId' in command ? command.sandboxId : null;
}
