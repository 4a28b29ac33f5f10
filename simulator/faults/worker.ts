/**
 * The worker between the driver and the world: it dispatches commands, dies, freezes and comes back.
 * Owns which execution of a command is whose, and what becomes of its answer; the rules are the driver's: a command is
 * out until its answer is committed, every start dispatches again what is out, and a repeat has the same id.
 */
import type { ActivityCommand, MachineEvent } from '../../core/machine/command.ts';
import type { EntityAddress } from '../../core/ids.ts';
import type { ProjectionRow } from '../../core/machine/projection.ts';
import type { ModelPort, WorldModel } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import type { Commits } from './commits.ts';
import {
  ANSWER_LATE,
  ASKED_AGAIN,
  DOWN,
  figureIn,
  FROZEN,
  LEASE_MS,
  SECOND_LEADER,
  UPGRADE,
} from './figures.ts';
import { Executions, isOfTheStore, type Driver, type Execution } from './executions.ts';
import type { Held } from './held.ts';
import type { Opportunities } from './opportunities.ts';
import type { Outages } from './outages.ts';
import type { WorkerClock } from './worker-clock.ts';

export interface WorkerParts {
  readonly port: ModelPort;
  readonly held: Held;
  readonly opportunities: Opportunities;
  readonly commits: Commits;
  readonly clock: WorkerClock;
  readonly outages: Outages;
  /** Commands that are out, and the states as the store has them. */
  readonly driver: () => Driver;
}

export class Worker implements WorldModel, ModelPort {
  /** Times it has died or was replaced. */
  lives = 1;
  private readonly executions = new Executions();
  private readonly recorded = new Set<string>();
  private readonly parts: WorkerParts;
  private world: WorldModel | null = null;
  private current: Execution | null = null;

  constructor(parts: WorkerParts) {
    this.parts = parts;
  }

  /** The world whose commands it carries out. */
  serve(world: WorldModel): void {
    this.world = world;
  }

  get downUntil(): number | null {
    return this.parts.outages.until(this.now());
  }

  now(): number {
    return this.parts.port.now();
  }

  project(rows: readonly ProjectionRow[]): void {
    this.world?.project(rows);
  }

  /** A command that was committed. While the worker is down nothing is dispatched: the next start does it. */
  begin(command: ActivityCommand): void {
    const one = this.dispatch(command);
    if (one === null) return;
    // What a successor takes over plans no next upgrade: with a dozen commands out, upgrades would never end.
    const upgrade = this.parts.opportunities.strikes('worker_rolling_upgrade', one.where, null);
    if (upgrade !== null) this.die(upgrade, figureIn(UPGRADE, upgrade), true);
  }

  /** Null when no worker is up to take it, or when the worker dies before it does. */
  private dispatch(command: ActivityCommand): Execution | null {
    if (this.downUntil !== null) return null;
    const { opportunities, clock } = this.parts;
    const one = this.executions.begin(command, this.parts.driver);
    const { where, sender } = one;
    const dies = opportunities.strikes('worker_crash_after_commit', where, sender);
    if (dies !== null) {
      this.die(dies, figureIn(DOWN, dies));
      return null;
    }
    this.start(one);
    clock.poll(where);
    return one;
  }

  private start(first: Execution): void {
    const { opportunities, held } = this.parts;
    const { command } = first;
    const zombie = opportunities.strikes('worker_zombie', first.where, first.sender);
    if (zombie !== null) {
      first.fate = 'frozen';
      first.wakesAt = this.now() + figureIn(FROZEN, zombie);
      held.until(this.now() + LEASE_MS, () => this.startAgain(command));
    }
    const leader = opportunities.strikes('worker_two_leaders', first.where, first.sender);
    this.carryOut(first);
    if (leader !== null)
      held.until(this.now() + figureIn(SECOND_LEADER, leader), () => this.startAgain(command));
  }

  /** By another worker, while the command is out. */
  private startAgain(command: ActivityCommand): void {
    if (this.downUntil !== null || !this.isOut(command)) return;
    this.carryOut(this.executions.begin(command, this.parts.driver));
  }

  private isOut({ id }: ActivityCommand): boolean {
    return this.parts
      .driver()
      .outstanding()
      .some((one) => one.id === id);
  }

  private carryOut(one: Execution): void {
    // A record is kept under the id of its command: the second of the same id writes nothing.
    if (one.command.type === 'record' && this.recorded.has(one.command.id))
      return this.laterOf(one, this.now(), () => this.answer(one.command, null));
    if (one.command.type === 'record') this.recorded.add(one.command.id);
    this.as(one, () => this.world?.begin(one.command));
  }

  private as(one: Execution | null, run: () => void): void {
    const before = this.current;
    this.current = one;
    try {
      run();
    } finally {
      this.current = before;
    }
  }

  /** The execution that acts for a command: the one at work, or the latest of that command. */
  private executionOf(commandId: string): Execution | null {
    if (this.current?.command.id === commandId) return this.current;
    return this.executions.latestOf(commandId);
  }

  later(commandId: string | null, at: number, run: () => void): void {
    const one = commandId === null ? null : this.executionOf(commandId);
    if (one === null) return this.parts.port.later(commandId, at, () => this.as(null, run));
    this.laterOf(one, at, run);
  }

  private laterOf(one: Execution, at: number, run: () => void): void {
    const { port, held } = this.parts;
    const poll = (): void => this.poll(one, run);
    // One that is frozen does not notice that its command was cancelled.
    if (one.fate === 'frozen' && at < one.wakesAt && !held.isOpen) held.until(one.wakesAt, poll);
    else port.later(one.fate === 'frozen' ? null : one.command.id, at, poll);
  }

  private poll(one: Execution, run: () => void): void {
    if (one.fate === 'frozen' && isOfTheStore(one.command)) return;
    if (one.fate === 'lost') {
      if (one.goesThrough) this.as(one, run);
      return;
    }
    const { opportunities, commits, held } = this.parts;
    const backAt = isOfTheStore(one.command) ? commits.awayUntil : null;
    if (backAt !== null) return held.until(backAt, () => this.poll(one, run));
    one.polls += 1;
    const where = `${one.where}/${one.polls}`;
    const dies =
      one.fate === 'frozen' ? null : opportunities.strikes('worker_crash_in_activity', where, one.sender);
    if (dies !== null) return this.die(dies, figureIn(DOWN, dies));
    this.as(one, run);
  }

  answer(command: ActivityCommand, event: MachineEvent | null): void {
    const { opportunities, held } = this.parts;
    const one = this.executionOf(command.id);
    if (one === null) return this.parts.port.answer(command, event);
    if (one.fate === 'lost') return;
    const late = opportunities.strikes('answer_late', one.where, one.sender);
    if (late === null) return this.commitAnswer(one, event);
    held.until(this.now() + figureIn(ANSWER_LATE, late), () => this.commitAnswer(one, event));
  }

  private commitAnswer(one: Execution, event: MachineEvent | null): void {
    const { opportunities, commits, port, held } = this.parts;
    const { command, sender, where } = one;
    // The answer of one that lost its lease is dropped while its successor is down.
    if (one.fate === 'lost' || this.downUntil !== null) return;
    if (this.isEarlyByItsClock(one, event)) return;
    const dies = opportunities.strikes('worker_crash_before_commit', `answer/${where}`, sender);
    if (dies !== null) return this.die(dies, figureIn(DOWN, dies));
    const repeat = (): void => {
      if (event !== null) port.deliver(sender, event);
    };
    const apply = (): void => {
      if (one.fate !== 'lost') port.answer(command, event);
    };
    const twice = opportunities.strikes('answer_repeated', where, sender);
    commits.enter({ where: `answer/${where}`, about: sender, apply, repeat });
    if (twice !== null) held.until(this.now() + figureIn(ASKED_AGAIN, twice), repeat);
  }

  /** The idle watch reads the clock of its worker: one that is behind sees the end of the Idle Time later. */
  private isEarlyByItsClock(one: Execution, event: MachineEvent | null): boolean {
    const { clock, held } = this.parts;
    const { command } = one;
    if (clock.offMs >= 0 || command.type !== 'watchIdle' || event?.type !== 'idleReached') return false;
    const leftMs = event.lastActivityAt + (command.idleTimeMs ?? 0) - (this.now() + clock.offMs);
    if (leftMs <= 0) return false;
    held.until(this.now() + leftMs, () => this.startAgain(command));
    return true;
  }

  /** What an activity reports to an entity on the way, and what the world reports by itself. */
  deliver(to: EntityAddress, event: MachineEvent): void {
    const { port, held, commits } = this.parts;
    const one = this.current;
    if (one?.fate === 'lost') return;
    const until = this.downUntil ?? commits.awayUntil;
    if (until === null) return port.deliver(to, event);
    // A caller from outside retries until a worker answers.
    held.until(until, () => this.as(one, () => this.deliver(to, event)));
  }

  /** It dies now: what it was at is lost, and what is out is begun again by the next one. */
  die(figures: RandomStream, forMs: number, otherOrder = false): void {
    const { outages, held } = this.parts;
    this.lives += 1;
    this.executions.lose(figures);
    const backAt = this.now() + forMs;
    outages.begin(this.now(), backAt);
    const life = this.lives;
    held.until(backAt, () => {
      if (this.lives === life) this.comeBack(otherOrder ? figures : null);
    });
  }

  /** The next worker has what the store has kept, and nothing else. */
  private comeBack(shuffle: RandomStream | null): void {
    const driver = this.parts.driver();
    this.parts.outages.end(this.now());
    driver.reload();
    const commands = [...driver.outstanding()];
    if (shuffle !== null) shuffleWith(commands, shuffle);
    for (const command of commands) this.dispatch(command);
  }
}

function shuffleWith<Item>(items: Item[], stream: RandomStream): void {
  for (let at = items.length - 1; at > 0; at -= 1) {
    const other = Math.floor(stream.next() * (at + 1));
    [items[at], items[other]] = [items[other] as Item, items[at] as Item];
  }
}
