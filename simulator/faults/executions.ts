/**
 * Which worker carries out which command, and whether a driver still receives its answer.
 * Owns the executions and the names of their opportunities; must not decide which worker dies.
 */
import type { ActivityCommand, ActivityCommandType } from '../../core/machine/command.ts';
import type { EntityAddress } from '../../core/ids.ts';
import type { RandomStream } from '../random.ts';
import type { Simulation } from '../simulation.ts';
import { senderOf } from './opportunities.ts';

/** One worker carrying out one command. */
export interface Execution {
  readonly command: ActivityCommand;
  readonly sender: EntityAddress;
  /** Name of its opportunities: the command's id and which try it is. */
  readonly where: string;
  /**
   * `lost`: its worker has died, and no driver receives its answer. `frozen`: its worker has lost its lease; it goes on
   * when it wakes, whatever has happened to the command.
   */
  fate: 'runs' | 'lost' | 'frozen';
  /** Lost, and yet its call was made: what it orders of the world still happens. */
  goesThrough: boolean;
  /** Epoch milliseconds; 0 unless it is frozen. */
  wakesAt: number;
  polls: number;
}

/** Commands that are out, and the states as the store has them. */
export type Driver = Pick<Simulation, 'outstanding' | 'reload'>;

/**
 * Carried out in the store itself: they wait while it is away, and end with their worker. A store has one engine, so a
 * worker that lost its lease writes nothing there any more; runtimes and agents it still reaches.
 */
const OF_THE_STORE: ReadonlySet<ActivityCommandType> = new Set<ActivityCommandType>([
  'placeConversation',
  'reserveSlot',
  'offerRoom',
  'record',
  'removeConversation',
  'startConversation',
  'collectItem',
  'cleanUpSandbox',
  'warmPool',
  'reconcileRun',
  'reportRun',
]);

/** Commands remembered, at the least, before those that are settled are forgotten. */
const REMEMBERED_MIN = 2_000;

export function isOfTheStore({ type }: ActivityCommand): boolean {
  return OF_THE_STORE.has(type);
}

export class Executions {
  private readonly byCommand = new Map<string, Execution[]>();
  private readonly tries = new Map<string, number>();
  private rememberedMax = REMEMBERED_MIN;

  begin(command: ActivityCommand, driver: () => Driver): Execution {
    const { id } = command;
    const count = (this.tries.get(id) ?? 0) + 1;
    this.tries.set(id, count);
    if (this.tries.size > this.rememberedMax) this.forgetSettled(driver());
    const one: Execution = {
      command,
      sender: senderOf(id),
      where: `${id}/${count}`,
      fate: 'runs',
      goesThrough: false,
      wakesAt: 0,
      polls: 0,
    };
    const known = this.byCommand.get(id);
    if (known === undefined) this.byCommand.set(id, [one]);
    else known.push(one);
    return one;
  }

  latestOf(commandId: string): Execution | null {
    return this.byCommand.get(commandId)?.at(-1) ?? null;
  }

  /** Their worker dies; of half of the calls it had made, the effect still comes. */
  lose(figures: RandomStream): void {
    for (const some of this.byCommand.values())
      for (const one of some) {
        if (one.fate !== 'runs') continue;
        one.fate = 'lost';
        one.goesThrough = !isOfTheStore(one.command) && figures.split(one.where).happens(0.5);
      }
  }

  private forgetSettled(driver: Driver): void {
    const out = new Set(driver.outstanding().map(({ id }) => id));
    for (const id of this.tries.keys()) {
      if (out.has(id)) continue;
      this.byCommand.delete(id);
      this.tries.delete(id);
    }
    this.rememberedMax = Math.max(REMEMBERED_MIN, 2 * out.size);
  }
}
