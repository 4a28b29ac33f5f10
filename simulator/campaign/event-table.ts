/**
 * A run for reading: one line per event with its time, its entity, the change of phase and what was ordered, and one
 * per fault that struck in between.
 * Owns the form of a line and the legend; entities have short names, in order of appearance.
 */
import type { Command } from '../../core/machine/command.ts';
import { addressKey, type EntityAddress } from '../../core/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { Injected } from '../faults/injector.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { phaseOf } from '../view.ts';

/** Lines kept; a shrunk case has far fewer. */
const LINES_MAX = 20_000;

/** What the columns of the table mean, line by line. */
export const TABLE_LEGEND: readonly string[] = [
  'time      since the beginning: days, hours:minutes:seconds.milliseconds',
  'entity    S sandbox, C conversation, R run, numbered in order of appearance; the list below has their ids',
  'event     what arrived; phase > phase when it changed the phase, the phase alone when it did not',
  'orders    what was ordered; -> ENTITY is a message to it',
  '!!        a fault struck, with the entity and the opportunity',
];

const LETTERS = { sandbox: 'S', conversation: 'C', run: 'R', shard: 'H' } as const;

export class EventTable {
  private readonly rows: string[] = [];
  private readonly names = new Map<string, string>();
  private readonly counts = { sandbox: 0, conversation: 0, run: 0, shard: 0 };
  private readonly startAt: number;

  constructor(startAt: number) {
    this.startAt = startAt;
  }

  /** The rows, then the ids behind the short names. */
  get lines(): readonly string[] {
    return [...this.rows, '', ...[...this.names].map(([key, name]) => `${name} = ${key}`)];
  }

  add({ at, address, event, before, after, commands }: SimulationStep): void {
    const [from, to] = [phaseOf(before) ?? 'unborn', phaseOf(after) ?? 'unborn'];
    const change = from === to ? to : `${from} > ${to}`;
    const orders = commands.flatMap((command) => this.order(command));
    this.row(at, [
      this.nameOf(address).padEnd(4),
      event.type.padEnd(20),
      change.padEnd(28),
      orders.join(', '),
    ]);
  }

  struck({ fault, where, at, entity }: Injected): void {
    const [machine = '', id = ''] = entity?.split('/') ?? [];
    const name = entity === null ? 'all' : this.nameOf({ machine: machine as EntityAddress['machine'], id });
    this.row(at, [name.padEnd(4), `!! ${fault} @ ${where}`]);
  }

  private row(at: number, cells: readonly string[]): void {
    if (this.rows.length < LINES_MAX)
      this.rows.push(`${clock(at - this.startAt)}  ${cells.join(' ')}`.trimEnd());
  }

  private nameOf(address: EntityAddress): string {
    const key = addressKey(address);
    const known = this.names.get(key);
    if (known !== undefined) return known;
    this.counts[address.machine] += 1;
    const name = `${LETTERS[address.machine]}${this.counts[address.machine]}`;
    this.names.set(key, name);
    return name;
  }

  /** Projections follow every change and say nothing here. */
  private order(command: Command): readonly string[] {
    switch (command.type) {
      case 'project':
        return [];
      case 'send':
        return [`-> ${this.nameOf(command.to)} ${command.event.type}`];
      case 'cancelCommand':
        return [`cancel #${numberOf(command.commandId)}`];
      default:
        return [`${command.type} #${numberOf(command.id)}`];
    }
  }
}

/** Commands are counted by their machine: the last part of an id is the count. */
function numberOf(commandId: string): string {
  return commandId.slice(commandId.lastIndexOf('#') + 1);
}

function clock(ms: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const days = Math.floor(ms / DAY_MS);
  const hours = two(Math.floor((ms % DAY_MS) / HOUR_MS));
  const minutes = two(Math.floor((ms % HOUR_MS) / MINUTE_MS));
  const seconds = two(Math.floor((ms % MINUTE_MS) / SECOND_MS));
  return `${days}d ${hours}:${minutes}:${seconds}.${String(ms % SECOND_MS).padStart(3, '0')}`;
}
