/**
 * A day on many hosts, on the virtual clock: sandboxes come evenly, are released and resumed, and hosts are lost, cut off,
 * slow and drained.
 * `npm run bench -- simulated-hosts [HOSTS] [SANDBOXES] [--checks]`. Owns the load and what is counted; figures are printed,
 * never asserted, and no figure is trusted under a broken invariant.
 */
import { userId } from '../core/ids.ts';
import type { SandboxState } from '../core/sandbox/state.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.ts';
import { Checking } from '../simulator/checking.ts';
import { befall, HOST_INCIDENT_NAMES, pass } from '../simulator/hosts/host-incident.ts';
import type { HostsSetting } from '../simulator/hosts/host-setting.ts';
import { specOutsideRun } from '../simulator/models/spec-outside-run.ts';
import { conversationIdNamed } from '../simulator/models/derived-id.ts';
import { uniform } from '../simulator/models/distribution.ts';
import { MODELS_STEADY, type Policy } from '../simulator/models/model-options.ts';
import { World } from '../simulator/models/world.ts';
import { RandomStream } from '../simulator/random.ts';
import { message } from '../simulator/requests.ts';
import { Simulation } from '../simulator/simulation.ts';

/** Sandboxes on one host at most: more than its share, so that a lost host leaves room elsewhere. */
const ROOM = 1.25;
/** Hosts of a hundred that something befalls in the day. */
const INCIDENTS_PER_HUNDRED = 40;
const MEGABYTE = 2 ** 20;

const [hostCount = 100, sandboxCount = 10_000] = process.argv
  .slice(2)
  .filter((one) => !one.startsWith('-'))
  .map(Number);
const checks = process.argv.includes('--checks');

const hosts: HostsSetting = {
  strategy: 'spread',
  leaseMs: MINUTE_MS,
  hosts: Array.from({ length: hostCount }, (_, index) => ({
    name: `host-${index + 1}`,
    capacity: Math.ceil((ROOM * sandboxCount) / hostCount),
  })),
};
const policy: Policy = {
  limits: { idleTimeMs: 20 * MINUTE_MS, deletionTimeMs: 10 * DAY_MS },
  capacity: { installationMax: 2 * sandboxCount, userMax: 2 * sandboxCount, conversationsPerSandboxMax: 1 },
  onFull: 'queue',
  grouping: 'NO_GROUPING',
  hosts,
};
const models = {
  ...MODELS_STEADY,
  agent: { ...MODELS_STEADY.agent, work: uniform(5 * MINUTE_MS, 2 * HOUR_MS) },
};

let world: World | null = null;
let checking: Checking | null = null;
const random = new RandomStream(1);
const simulation = new Simulation({
  startAt: 0,
  world: (port) => (world = new World(port, { models, policy, random })),
  ...(checks ? { onStep: (step) => checking?.step(step) } : {}),
});
const workers = (world as World | null)?.hosts ?? null;
if (world === null || workers === null) throw new Error('Cannot measure: there are no hosts');
if (checks) checking = new Checking(simulation, world);
// Only a checker reads them.
workers.table.keepsPlacements = checks;
workers.actions.keeps = checks;

/** Each begins in the first hour, and is written to twice more: what was released comes back to its host. */
for (let index = 0; index < sandboxCount; index += 1) {
  const id = conversationIdNamed(`bench ${index}`);
  const stream = random.split(`conversation ${index}`);
  const to = { machine: 'conversation', id } as const;
  simulation.script(Math.floor((index * HOUR_MS) / sandboxCount), () =>
    simulation.deliver(to, {
      type: 'started',
      watcher: null,
      spec: specOutsideRun({
        conversationId: id,
        userId: userId(`user ${index % 1_000}`),
        strategy: 'NO_GROUPING',
        initialMessage: { messageId: `message ${index}`, text: 'do it', run: true },
      }),
    }),
  );
  for (const time of ['second', 'third'])
    simulation.script(2 * HOUR_MS + Math.floor(stream.next() * 20 * HOUR_MS), () =>
      simulation.deliver(to, message(`${time} ${index}`, 'more')),
    );
}
for (let number = 0; number < (hostCount * INCIDENTS_PER_HUNDRED) / 100; number += 1) {
  const stream = random.split(`incident ${number}`);
  const name = HOST_INCIDENT_NAMES[number % HOST_INCIDENT_NAMES.length] ?? 'host_lost';
  const host = `host-${1 + Math.floor(stream.next() * hostCount)}`;
  const incident = { name, host, forMs: 10 * MINUTE_MS + Math.floor(stream.next() * 2 * HOUR_MS) };
  const at = Math.floor((0.05 + 0.8 * stream.next()) * DAY_MS);
  simulation.script(at, () => befall(workers, incident));
  simulation.script(at + incident.forMs, () => pass(workers, incident));
}

const cpuFrom = process.cpuUsage();
const from = process.hrtime.bigint();
let most = 0;
for (let at = 0; at <= DAY_MS; at += 10 * MINUTE_MS) {
  simulation.runUntil(at);
  most = Math.max(
    most,
    [...workers.all()].reduce((sum, { up }) => sum + up, 0),
  );
}
const seconds = Number(process.hrtime.bigint() - from) / 1e9;
const { user, system } = process.cpuUsage(cpuFrom);
checking?.end();
const broken = checking?.violations ?? [];
if (broken.length > 0)
  throw new Error(`Cannot trust the figures: ${broken[0]?.name} is broken: ${broken[0]?.problem}`);
const lost = [...simulation.all()].filter(
  ({ address, state }) => address.machine === 'sandbox' && (state as SandboxState).detail === 'host_lost',
).length;
const { rss, heapUsed } = process.memoryUsage();
console.log(
  [
    `${hostCount} hosts, ${sandboxCount} sandboxes, 24 h, checkers ${checks ? 'on' : 'off'}`,
    `${seconds.toFixed(1)} s wall`,
    `${((user + system) / 1e6).toFixed(1)} s CPU`,
    `${simulation.events} events`,
    `${Math.round(simulation.events / seconds)} events/s`,
    `${Math.round(rss / MEGABYTE)} MiB resident, ${Math.round(heapUsed / MEGABYTE)} MiB heap`,
    `${most} sandboxes up at most`,
    `${workers.givenUp.length} hosts given up, ${lost} sandboxes lost with them`,
  ].join('  '),
);
