/**
 * What polls and lists show in the place of the truth, and what an Agent Server claims about its idle time.
 * Owns the faults of polling; must not change what is polled.
 */
import type { CommandOf } from '../../core/machine/command.ts';
import type { SandboxId } from '../../core/ids.ts';
import type { IdleWatches } from '../models/idle-watches.ts';
import type { Loss, RuntimeModel } from '../models/runtime-model.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import type { FaultName } from './catalogue.ts';
import { figureIn, wholeIn } from './figures.ts';
import type { Opportunities } from './opportunities.ts';
import { IDLE_TIME_OFF } from './runtime-figures.ts';

/** A list that leaves a sandbox out does so a few times in a row. */
const OMISSIONS_MAX = 4;

interface Parts {
  readonly port: ModelPort;
  readonly opportunities: Opportunities;
  readonly runtime: RuntimeModel;
  readonly watches: IdleWatches;
}

type Look = CommandOf<'watchIdle'>;

export class RuntimeSights {
  private readonly parts: Parts;
  /** Polls that will still not find it. */
  private readonly omitted = new Map<SandboxId, number>();

  constructor(parts: Parts) {
    this.parts = parts;
    parts.watches.sight = (poll, loss) => this.sight(poll, loss);
    parts.watches.claim = (poll, last) => this.claim(poll, last);
    parts.runtime.foreign.listing = (id, sweep) => this.listing(id, sweep);
  }

  heal(): void {
    this.omitted.clear();
  }

  /** Nothing that a poll shows wrongly may ever be a definite absence (D13). */
  private sight({ sandboxId }: Look, loss: Loss | null): Loss | null {
    if (loss === 'unknown') return loss;
    const where = `${sandboxId}/look ${this.nth('look', sandboxId)}`;
    if (loss !== null) return this.ask('runtime_look_stale', where, sandboxId) === null ? loss : null;
    // Listed twice it is polled twice.
    if (this.ask('runtime_list_repeats', where, sandboxId) !== null)
      this.parts.watches.pollAfter(sandboxId, 0);
    const left = this.omitted.get(sandboxId) ?? 0;
    if (left > 0) this.omitted.set(sandboxId, left - 1);
    if (left > 0) return 'unknown';
    const figures = this.ask('runtime_list_omits', where, sandboxId);
    if (figures === null) return null;
    this.omitted.set(sandboxId, wholeIn(0, OMISSIONS_MAX, figures));
    return 'unknown';
  }

  /** Too short an idle time only: too long a one is outdone by the events that are stored. */
  private claim({ sandboxId }: Look, last: number): number {
    const where = `${sandboxId}/idle ${this.nth('idle', sandboxId)}`;
    const figures = this.ask('agent_wrong_idle_time', where, sandboxId);
    return figures === null ? last : Math.min(this.parts.port.now(), last + figureIn(IDLE_TIME_OFF, figures));
  }

  private listing(id: SandboxId, sweep: number): 0 | 1 | 2 {
    const where = `${id}/sweep ${sweep}`;
    if (this.ask('runtime_list_omits', where, id) !== null) return 0;
    return this.ask('runtime_list_repeats', where, id) === null ? 1 : 2;
  }

  private nth(what: string, id: SandboxId): number {
    return this.parts.opportunities.nth(`${what}/${id}`);
  }

  private ask(fault: FaultName, where: string, id: SandboxId): RandomStream | null {
    return this.parts.opportunities.strikes(fault, where, { machine: 'sandbox', id });
  }
}
