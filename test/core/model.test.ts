/**
 * Random lives of sandboxes, conversations and a run together, with messages late, twice and out of order.
 * Owns what must hold at every step and at rest; a failing seed is printed and reproduces the whole life.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConversationState } from '../../core/conversation/state.ts';
import { conversationId, runId, type ConversationId, type EntityAddress } from '../../core/ids.ts';
import { MAX_SESSION_MS } from '../../core/limits.ts';
import { indexAt, type RunItem, type RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { GROUPING_STRATEGIES, isReleaseReason, type SandboxStatus } from '../../core/status.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import { ModelFakes, statesOf } from './model-fakes.ts';
import { ModelWorld } from './model-world.ts';
import { RULES } from './run-life.ts';
import { SPEC } from './sandbox-life.ts';

/** The specification's table of statuses; ERROR from PAUSED only while agents wait with the runtime up. */
const ALLOWED: Readonly<Record<SandboxStatus, readonly SandboxStatus[]>> = {
  STARTING: ['RUNNING', 'ERROR', 'MISSING'],
  RUNNING: ['PAUSED', 'ERROR', 'MISSING'],
  PAUSED: ['RUNNING', 'ERROR', 'MISSING'],
  ERROR: ['MISSING'],
  MISSING: [],
};

const ACTIONS = [
  'start',
  'message',
  'message',
  'pause',
  'resume',
  'deleteSandbox',
  'loseHost',
  'deleteConversation',
  'interrupt',
  'access',
  'create',
  'cancelRun',
  'resumeRun',
] as const;
const STEP = fc.record({
  action: fc.constantFrom(...ACTIONS),
  which: fc.nat({ max: 3 }),
  strategy: fc.constantFrom(...GROUPING_STRATEGIES),
  waitMs: fc.constantFrom(0, 0, 5_000, 40_000, MINUTE_MS, 25 * MINUTE_MS, 3 * HOUR_MS, 13 * HOUR_MS),
});
const LIFE = fc.record({
  seed: fc.nat(),
  delayMs: fc.constantFrom(0, 500, 8_000),
  duplicates: fc.constantFrom(0, 0.3),
  failures: fc.constantFrom(0, 0.05, 0.3),
  withRun: fc.boolean(),
  /** Of a run of three. */
  shardItems: fc.constantFrom(undefined, 1, 2),
  steps: fc.array(STEP, { minLength: 3, maxLength: 12 }),
});
type Life = typeof LIFE extends fc.Arbitrary<infer Value> ? Value : never;
type Step = Life['steps'][number];

class Model {
  readonly world: ModelWorld;
  readonly fakes: ModelFakes;
  readonly problems: string[] = [];
  readonly accepted = new Map<string, ConversationId>();
  private readonly started: ConversationId[] = [];
  private count = 0;

  constructor(life: Life) {
    this.world = new ModelWorld(life.seed, life);
    this.fakes = new ModelFakes(this.world);
    this.world.onStep = (address, before, after) => this.watch(address, before, after);
    if (life.withRun) this.startRun(life.shardItems);
    for (const step of life.steps) {
      this.act(step);
      this.world.runUntil(this.world.now + step.waitMs);
    }
  }

  private startRun(shardItems: number | undefined): void {
    const items = [0, 1, 2].map((index) => ({
      key: `k${index}`,
      priority: 0,
      hasVerify: index === 1,
      workingMs: null,
    }));
    const retry = [{ on: ['infra', 'stuck'], attempts: 1, initialMs: 0, factor: 1, maxMs: 0 }] as const;
    this.world.post(
      { machine: 'run', id: 'r' },
      {
        type: 'runStarted',
        spec: {
          runId: runId('r'),
          userId: SPEC.userId,
          name: 'n',
          planHash: 'h',
          rules: {
            ...RULES,
            concurrency: 2,
            retry,
            wait: { ...RULES.wait, deadlineMs: 3 * DAY_MS },
            shardItems,
          },
          items,
        },
      },
    );
  }

  private act({ action, which, strategy }: Step): void {
    this.count += 1;
    const requestId = `user-${this.count}`;
    const sandbox = [...this.fakes.rows.keys()][which];
    const conversation = this.started[which];
    const run = { machine: 'run', id: 'r' } as const;
    if (action === 'start') return this.start(strategy, which === 3 ? (sandbox ?? null) : null);
    if (action === 'create') {
      const id = this.fakes.newSandbox();
      return this.world.post(
        { machine: 'sandbox', id },
        { type: 'created', spec: { ...SPEC, sandboxId: id, createdBy: 'api' } },
      );
    }
    if (action === 'cancelRun') return this.world.post(run, { type: 'cancelRequested', requestId });
    if (action === 'resumeRun')
      return this.world.post(run, { type: 'resumeRequested', requestId, classes: ['infra'] });
    if (sandbox !== undefined) {
      const to = { machine: 'sandbox', id: sandbox } as const;
      if (action === 'pause') this.world.post(to, { type: 'pauseRequested', requestId, reason: 'user' });
      if (action === 'resume')
        this.world.post(to, { type: 'resumeRequested', requestId, conversationId: null });
      if (action === 'loseHost') this.fakes.loseHost(sandbox);
      if (action === 'deleteSandbox') this.world.post(to, { type: 'deleteRequested', requestId });
    }
    if (conversation !== undefined) this.actOn(conversation, action, requestId);
  }

  private actOn(id: ConversationId, action: Step['action'], requestId: string): void {
    const to = { machine: 'conversation', id } as const;
    if (action === 'message') {
      this.accepted.set(requestId, id);
      this.world.post(to, { type: 'messageReceived', messageId: requestId, text: 't', run: true });
    }
    if (action === 'interrupt') this.world.post(to, { type: 'interruptRequested', requestId });
    if (action === 'access') this.world.post(to, { type: 'accessRequested', requestId });
    if (action === 'deleteConversation') this.world.post(to, { type: 'deleteRequested', requestId });
  }

  private start(strategy: Step['strategy'], sandboxId: SandboxState['sandboxId'] | null): void {
    const spec = this.fakes.spec(this.count, { strategy, sandboxId });
    // The edge makes its first contact in one transaction: nothing else reaches a conversation before it.
    this.world.deliver(
      { machine: 'conversation', id: spec.conversationId },
      { type: 'started', spec, watcher: null },
    );
    this.started.push(spec.conversationId);
    this.accepted.set(`first-${this.count}`, spec.conversationId);
  }

  private watch({ machine, id }: EntityAddress, before: unknown, after: unknown): void {
    if (machine !== 'sandbox') return;
    const [was, is] = [before as SandboxState | null, after as SandboxState];
    const { phase, sessionStartedAt } = is;
    if (
      phase === 'running' &&
      sessionStartedAt !== null &&
      this.world.now - sessionStartedAt >= MAX_SESSION_MS
    )
      this.problems.push(`sandbox ${id}: a session of more than 12 hours`);
    if (was === null || was.status === is.status) return;
    if (!ALLOWED[was.status].includes(is.status))
      this.problems.push(`sandbox ${id}: ${was.status} -> ${is.status}`);
    const wasReleased = was.pauseReason !== null && isReleaseReason(was.pauseReason);
    if (wasReleased && is.status === 'ERROR') this.problems.push(`sandbox ${id}: released -> ERROR`);
  }

  /** What must hold when nothing is under way, with the life of a sandbox over or not. */
  checkAtRest(): readonly string[] {
    const sandboxes = statesOf<SandboxState>(this.world, 'sandbox');
    const conversations = statesOf<ConversationState>(this.world, 'conversation');
    for (const sandbox of sandboxes) this.checkSandbox(sandbox);
    for (const conversation of conversations) this.checkConversation(conversation, sandboxes);
    for (const run of statesOf<RunState>(this.world, 'run')) {
      if (run.phase !== 'finished') this.problems.push(`the run is ${run.phase}`);
      this.problems.push(...shardsDisagree(run, statesOf<RunState>(this.world, 'shard')));
    }
    const busy = [...this.world.out.values()].filter(({ type }) => type !== 'watchIdle');
    this.problems.push(...busy.map(({ id, type }) => `${id}: ${type} is still out`));
    for (const [messageId, id] of this.accepted) this.checkMessage(messageId, id);
    return this.problems;
  }

  private checkSandbox(sandbox: SandboxState): void {
    const { sandboxId, phase, waiters, archive, everReady } = sandbox;
    const atRest = ['running', 'released', 'error', 'errorEmpty', 'missing'];
    if (!atRest.includes(phase)) this.problems.push(`sandbox ${sandboxId} is ${phase}`);
    if (waiters.length > 0) this.problems.push(`sandbox ${sandboxId}: somebody still waits`);
    if ((this.fakes.up.has(sandboxId) ? 'running' : phase) !== phase)
      this.problems.push(`sandbox ${sandboxId}: up in ${phase}`);
    const destroyed = this.fakes.log.indexOf(`destroyed ${sandboxId}`);
    if (destroyed === -1 || !everReady || archive === 'archive_failed') return;
    if (!this.fakes.log.slice(0, destroyed).includes(`archived ${sandboxId}`))
      this.problems.push(`sandbox ${sandboxId}: destroyed before it was archived`);
  }

  private checkConversation(conversation: ConversationState, sandboxes: readonly SandboxState[]): void {
    const { phase, queue, startTask, sandbox, spec } = conversation;
    if (phase === 'deleted') return;
    const problem = (text: string) => this.problems.push(`conversation ${spec.conversationId}: ${text}`);
    if (queue.length > 0) problem(`${queue.length} queued in ${phase}`);
    if (startTask !== 'READY' && startTask !== 'ERROR') problem(`start task ${startTask}`);
    const own = sandboxes.find(({ sandboxId }) => sandboxId === sandbox?.sandboxId);
    if (sandbox !== null && own?.status !== sandbox.status)
      problem(`sees ${sandbox.status}, it is ${own?.status ?? 'unborn'}`);
    if (conversation.executionStatus === 'RUNNING' && sandbox?.usable === true && !conversation.interrupted)
      problem('works, and nobody watches');
  }

  private checkMessage(messageId: string, id: ConversationId): void {
    const delivered = this.fakes.delivered.get(messageId) ?? 0;
    const refused = this.fakes.refused.get(messageId) ?? 0;
    if (delivered > 1 || refused > 1)
      this.problems.push(`message ${messageId}: ${delivered} times delivered, ${refused} refused`);
    if (delivered + refused === 0 && !this.isDeleted(id)) this.problems.push(`message ${messageId}: lost`);
  }

  private isDeleted(id: ConversationId): boolean {
    const states = statesOf<ConversationState>(this.world, 'conversation');
    return states.some(
      ({ spec, phase }) => spec.conversationId === conversationId(id) && phase === 'deleted',
    );
  }
}

/** What a run and its shards know of an item is the same, once nothing is under way. */
function shardsDisagree(run: RunState, shards: readonly RunState[]): readonly string[] {
  const known = ({ phase, attempt, ending, costNanoUsd, failures, hostsLost, conversationId }: RunItem) =>
    JSON.stringify([phase, attempt, ending, costNanoUsd, failures, hostsLost, conversationId]);
  return shards.flatMap((shard) =>
    shard.items.flatMap((item, position) => {
      const index = indexAt(shard, position);
      const head = run.items[index];
      if (head === undefined || known(head) === known(item)) return [];
      return [`item ${index}: the run knows ${known(head)}, its shard ${known(item)}`];
    }),
  );
}

describe('the machines together', () => {
  it('come to rest with nothing lost, nothing twice and everybody agreed', () => {
    fc.assert(
      fc.property(LIFE, (life) => {
        const model = new Model(life);
        model.world.runUntil(model.world.now + 6 * DAY_MS);
        expect(model.checkAtRest()).toEqual([]);
        model.world.runUntil(model.world.now + 60 * DAY_MS);
        expect(model.checkAtRest()).toEqual([]);
      }),
      {
        numRuns: Number(process.env['MODEL_RUNS'] ?? 300),
        seed: Number(process.env['MODEL_SEED'] ?? 20_240_601),
      },
    );
  });
});
