/**
 * How many events per second the simulator plays, with checkers off and on, beside a bare seeded event heap.
 * Owns the loads and the comparison; figures are printed, never asserted.
 */
import { show, type Aim } from './all/figure.ts';
import { userId } from '../core/ids.ts';
import { HOUR_MS, MINUTE_MS } from '../core/time.ts';
import { Checking } from '../simulator/checking.ts';
import { EventHeap, type HeapEntry } from '../simulator/event-heap.ts';
import { specOutsideRun } from '../simulator/models/spec-outside-run.ts';
import { conversationIdNamed } from '../simulator/models/derived-id.ts';
import { fixed, type Distribution } from '../simulator/models/distribution.ts';
import { MODELS_STEADY, type Policy } from '../simulator/models/model-options.ts';
import { World } from '../simulator/models/world.ts';
import { RandomStream } from '../simulator/random.ts';
import { Simulation } from '../simulator/simulation.ts';

const DAY_IN_HOURS = 24;

interface Load {
  readonly conversations: number;
  readonly work: Distribution;
  /** Virtual time that is played. */
  readonly hours: number;
  readonly checks: boolean;
}

interface Figures {
  readonly seconds: number;
  /** User and system time of the process: says something on a loaded machine too. */
  readonly cpuMs: number;
  readonly events: number;
  readonly played: number;
  readonly population: number;
}

const POLICY: Policy = {
  limits: { idleTimeMs: 20 * MINUTE_MS, deletionTimeMs: 10 * DAY_IN_HOURS * HOUR_MS },
  capacity: { installationMax: 1_000_000, userMax: 1_000_000, conversationsPerSandboxMax: 20 },
  onFull: 'refuse',
  grouping: 'NO_GROUPING',
};

/** Conversations that begin evenly over the first hour, each in a sandbox of its own. */
function measure({ conversations, work, hours, checks }: Load): Figures {
  const models = { ...MODELS_STEADY, agent: { ...MODELS_STEADY.agent, work } };
  let world: World | null = null;
  let checking: Checking | null = null;
  const simulation = new Simulation({
    startAt: 0,
    world: (port) => (world = new World(port, { models, policy: POLICY, random: new RandomStream(1) })),
    ...(checks ? { onStep: (step) => checking?.step(step) } : {}),
  });
  if (world === null) throw new Error('Cannot measure: there is no world');
  if (checks) checking = new Checking(simulation, world);
  for (let index = 0; index < conversations; index += 1) {
    const at = Math.floor((index * HOUR_MS) / conversations);
    simulation.script(at, () => start(simulation, index));
  }
  const cpuFrom = process.cpuUsage();
  const from = process.hrtime.bigint();
  simulation.runUntil(HOUR_MS);
  const population = simulation.pending;
  simulation.runUntil(hours * HOUR_MS);
  const seconds = Number(process.hrtime.bigint() - from) / 1e9;
  const { user, system } = process.cpuUsage(cpuFrom);
  const broken = checking?.violations.length ?? 0;
  if (broken > 0) throw new Error(`Cannot trust the figure: ${broken} invariants are broken`);
  const cpuMs = (user + system) / 1e3;
  return { seconds, cpuMs, events: simulation.events, played: simulation.played, population };
}

function start(simulation: Simulation, index: number): void {
  const id = conversationIdNamed(`bench ${index}`);
  const spec = specOutsideRun({
    conversationId: id,
    userId: userId(`user ${index}`),
    strategy: 'NO_GROUPING',
    initialMessage: { messageId: `message ${index}`, text: 'do it', run: true },
  });
  simulation.deliver({ machine: 'conversation', id }, { type: 'started', spec, watcher: null });
}

/** Pops the first entry and puts it back at a random later instant: a simulator that does nothing. */
function bareHeap(population: number): number {
  const heap = new EventHeap<HeapEntry>();
  const random = new RandomStream(1);
  for (let sequence = 0; sequence < population; sequence += 1)
    heap.push({ at: random.next() * HOUR_MS, priority: 0, sequence });
  const events = 1_000_000;
  const from = process.hrtime.bigint();
  for (let sequence = population; sequence < population + events; sequence += 1) {
    const { at } = heap.pop() ?? { at: 0 };
    heap.push({ at: at + random.next() * HOUR_MS, priority: 0, sequence });
  }
  return events / (Number(process.hrtime.bigint() - from) / 1e9);
}

function print(name: string, load: Load, aim?: Aim): void {
  const { seconds, cpuMs, events, played, population } = measure(load);
  const bare = bareHeap(Math.max(1, population));
  const rate = events / seconds;
  const what = `${load.conversations} ${name}, ${load.hours} h, checkers ${load.checks ? 'on' : 'off'}`;
  const details = [
    `${seconds.toFixed(2)} s`,
    `${events} events`,
    `${played} heap entries`,
    `${((1_000 * cpuMs) / events).toFixed(2)} ms CPU per 1,000 events`,
    `${Math.round((1_000 * events) / cpuMs)} events per CPU second`,
  ];
  const figure = { what: `${what}: events a second`, value: rate, unit: '', ...(aim && { aim }) };
  show(figure, details.join('  '));
  const heap = `bare heap of ${population}: ${Math.round(bare)}/s`;
  show({ what: `${what}: to the bare heap`, value: rate / bare, unit: 'times' }, heap);
}

const conversations = Number(process.argv[2] ?? 10_000);
const UNTIL_FINISHED = fixed(18 * MINUTE_MS);
const UNTIL_THE_CAP = fixed(30 * HOUR_MS);
measure({ conversations: 500, work: UNTIL_FINISHED, hours: DAY_IN_HOURS, checks: true });
for (const checks of [false, true]) {
  const day = { conversations, hours: DAY_IN_HOURS, checks };
  print('work 18 min', { ...day, work: UNTIL_FINISHED }, ['≥', checks ? 250_000 : 400_000]);
  print('work to the cap', { ...day, work: UNTIL_THE_CAP });
  print('work 18 min', { conversations: 100, hours: 30 * DAY_IN_HOURS, work: UNTIL_FINISHED, checks });
}
