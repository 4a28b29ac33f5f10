/**
 * One program of the cluster under a supervisor: it is started again when it ends, by a fault or by itself.
 * Owns its process, its log file and its signals; the plan decides when it is harmed.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { trySignal } from '../../scripts/own-process.ts';
import { childOf, type Machine } from './machine.ts';

export interface ProgramSettings {
  readonly name: string;
  /** Null: where this process is. */
  readonly machine: Machine | null;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly log: string;
  /** Answers once it serves. */
  readonly health: string;
}

/** What a supervisor waits before it starts a program that ended by itself. */
const RESTART_MS = 1_000;
const READY_MS_MAX = 120_000;
const POLL_MS = 100;
/** At its first start all services are up, so few failed starts are tolerated. */
const ENDS_MAX = 2;

export class Program {
  readonly settings: ProgramSettings;
  /** Exit codes of unrequested ends, in order. */
  readonly ends: (number | string)[] = [];
  #child: ChildProcess | null = null;
  /** Whether it should run: false between a fault and the start after it. */
  #isWanted = false;

  constructor(settings: ProgramSettings) {
    this.settings = settings;
  }

  get name(): string {
    return this.settings.name;
  }

  start(): void {
    this.#isWanted = true;
    const { machine, command, env, log } = this.settings;
    if (this.#child !== null || machine?.isUp() === false) return;
    const [program = '', ...args] = machine === null ? command : machine.enter(command);
    const out = openSync(log, 'a');
    const child = spawn(program, args, { env, stdio: ['ignore', out, out] });
    closeSync(out);
    this.#child = child;
    child.once('exit', (code, signal) => {
      this.#child = null;
      if (!this.#isWanted) return;
      this.ends.push(code ?? signal ?? 'unknown');
      void pause(RESTART_MS).then(() => this.#isWanted && this.start());
    });
  }

  async isReady(): Promise<void> {
    for (const until = Date.now() + READY_MS_MAX; Date.now() < until; await pause(POLL_MS)) {
      const answer = await fetch(this.settings.health, { signal: AbortSignal.timeout(READY_MS_MAX) }).catch(
        () => null,
      );
      await answer?.arrayBuffer().catch(() => null);
      if (answer?.ok === true) return;
      if (this.ends.length > ENDS_MAX) break;
    }
    throw new Error(`${this.name} does not serve; its log is ${this.settings.log}`);
  }

  /** Kills it without warning, and waits until it has exited. It stays down until `start`. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async end(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** It lives, holds its sockets and its leases, and does nothing. */
  suspend(): void {
    this.#signal('SIGSTOP');
  }

  goOn(): void {
    this.#signal('SIGCONT');
  }

  /** Called before the power of its machine is cut. */
  forget(): void {
    this.#isWanted = false;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    if (child === null) return;
    const gone = once(child, 'exit');
    this.#signal('SIGCONT');
    this.#signal(signal);
    await gone;
  }

  #signal(signal: NodeJS.Signals): void {
    const outer = this.#child?.pid;
    if (outer === undefined) return;
    const inner = this.settings.machine?.isApart === true ? childOf(outer) : 0;
    // `nsenter`, which waits for it, is stopped along with it, and needs a SIGCONT of its own.
    if (signal === 'SIGCONT' && inner !== 0) trySignal(outer, signal);
    trySignal(inner === 0 ? outer : inner, signal);
  }
}
