/**
 * Who takes part in the hostile form of chaos: a neighbour at work, the hostile one, and who measures the service.
 * Owns what each does and waits for; what of it is a fault is judged elsewhere.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { until, type Conversation, type HostileGround } from './hostile-ground.ts';
import { ORDERS, type Attack } from './inside/orders.ts';

const MEASURE_MS = 50;
/** An agent of a neighbour that is waited for. */
const WORK_POLL_MS = 300;
/** Longer than an attack takes with what comes after it. */
const ATTACK_END_MS = 90_000;

export interface Figures {
  readonly memoryMiB: number;
  readonly descriptors: number;
  readonly slowestMs: number;
}

export class Measured {
  peakMiB = 0;
  descriptors = 0;
  slowestMs = 0;
  #isOver = false;
  readonly ground: HostileGround;

  constructor(ground: HostileGround) {
    this.ground = ground;
  }

  /** Until it is stopped: how much memory there is, and how long a small question takes. */
  start(): () => void {
    const timer = setInterval(() => {
      if (this.ground.ended !== null) return;
      this.peakMiB = Math.max(this.peakMiB, this.ground.memoryMiB());
      this.descriptors = Math.max(this.descriptors, this.ground.descriptors());
    }, MEASURE_MS);
    void this.#questions();
    return () => {
      this.#isOver = true;
      clearInterval(timer);
    };
  }

  take(): Figures {
    const { peakMiB: memoryMiB, descriptors, slowestMs } = this;
    [this.peakMiB, this.descriptors, this.slowestMs] = [0, 0, 0];
    return { memoryMiB, descriptors, slowestMs };
  }

  async #questions(): Promise<void> {
    while (!this.#isOver && this.ground.ended === null) {
      const began = performance.now();
      await this.ground.ask('GET', '/api/v1/sandboxes/search?limit=1').catch(() => null);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
      await wait(MEASURE_MS);
    }
  }
}

/** A neighbour at work: one message after the other, each of which must be answered. */
export class Neighbour {
  readonly accepted: string[] = [];
  slowestMs = 0;
  readonly ground: HostileGround;
  readonly conversation: Conversation;
  readonly first: string;

  constructor(ground: HostileGround, conversation: Conversation, first: string) {
    this.ground = ground;
    this.conversation = conversation;
    this.first = first;
    this.accepted.push(first);
  }

  async work(isOver: () => boolean): Promise<void> {
    for (let at = 1; ; at += 1) {
      const began = performance.now();
      await until(`an answer to "${this.accepted.at(-1)}"`, async () => {
        if (this.ground.ended !== null) throw new Error(this.ground.ended);
        await wait(WORK_POLL_MS);
        const { execution, sandbox } = await this.ground.statusOf(this.conversation);
        if (execution === 'ERROR' || sandbox !== 'RUNNING')
          throw new Error(
            `it is ${execution} in ${sandbox}: ${await this.ground.troubleOf(this.conversation)}`,
          );
        return (await this.ground.messageCount(this.conversation)) >= 2 * this.accepted.length ? true : null;
      });
      this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
      if (isOver()) return;
      const text = `${this.first}, and once more: ${at}`;
      await this.ground.send(this.conversation, text);
      this.accepted.push(text);
    }
  }
}

/** The hostile one: where its sandbox was ended for what it did, another takes its place. */
export class Hostile {
  #conversation: Conversation | null = null;
  ended = 0;
  readonly ground: HostileGround;

  constructor(ground: HostileGround) {
    this.ground = ground;
  }

  async ready(): Promise<Conversation> {
    if (this.#conversation !== null) return this.#conversation;
    const conversation = await this.ground.start('be patient');
    this.ground.plant(conversation);
    await until('the first answer', async () => {
      return (await this.ground.messageCount(conversation)) >= 2 ? true : null;
    });
    await this.ground.send(conversation, 'hostile');
    const ready = path.join(this.ground.workspaceOf(conversation), ORDERS, 'ready');
    await until('the hostile program', () => Promise.resolve(existsSync(ready) ? true : null)).catch(
      async () => {
        throw new Error(`the hostile program did not come: ${await this.ground.troubleOf(conversation)}`);
      },
    );
    return (this.#conversation = conversation);
  }

  async attack(attack: Attack, ms: number): Promise<string> {
    const conversation = await this.ready();
    const orders = path.join(this.ground.workspaceOf(conversation), ORDERS);
    writeFileSync(path.join(orders, 'next'), JSON.stringify({ attack, ms }));
    renameSync(path.join(orders, 'next'), path.join(orders, 'next.order'));
    const did = path.join(orders, 'did');
    void this.ground.lookInto(conversation);
    for (const end = Date.now() + ATTACK_END_MS; Date.now() < end; await wait(WORK_POLL_MS)) {
      if (this.ground.ended !== null) return this.ground.ended;
      if (existsSync(did)) {
        const text = readFileSync(did, 'utf8');
        rmSync(did);
        return text;
      }
      const { sandbox } = await this.ground.statusOf(conversation);
      if (sandbox === 'RUNNING') continue;
      await this.end();
      return `its sandbox was ended: ${sandbox}`;
    }
    await this.end();
    return 'it did not come back';
  }

  /** Everything it left is removed, whatever it is. */
  async end(): Promise<void> {
    const conversation = this.#conversation;
    this.#conversation = null;
    if (conversation === null) return;
    this.ended += 1;
    await this.ground.remove(conversation);
  }
}
