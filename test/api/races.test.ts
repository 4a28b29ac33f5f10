/** Races on the model runtime: in any interleaving nothing is lost or doubled, and every caller gets an answer. */
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startWebhookServer } from '../../api/webhook-server.ts';
import { lateAgent, waitsUpTo } from './race-means.ts';
import { RACES, runRaces, type Racetrack } from './races.ts';
import { openService, type Service } from './service.ts';

/** Repetitions of each race; 1000 is the long form. */
const TIMES = Number(process.env['PARLEY_RACES'] ?? 20);
const AT_ONCE = 8;
/** Runtime and agent take up to this long for each thing; callers begin within it. */
const WAIT_MS_MAX = 12;
/** No race here waits for the result of a poll; many watches would only slow each other. */
const POLL_MS = 1_000;
/** What a script that prepares a workspace prints last. */
const COMMIT = 'c'.repeat(40);
const NO_LIMIT = { burst: 1e9, perSecond: 1e9 };

it.each(Object.keys(RACES) as (keyof typeof RACES)[])(
  `${TIMES} times %s`,
  async (name) => {
    const service = await openService({
      rateLimits: { perKey: NO_LIMIT, refusals: NO_LIMIT },
      deployment: {
        pollMs: POLL_MS,
        capacity: {
          installationMax: 1_000,
          userMax: RACES[name].room,
          conversationsPerSandboxMax: 20,
        },
      },
    });
    await runRaces(await racetrack(service), name, { times: TIMES, atOnce: AT_ONCE });
    expect(service.lines.filter(({ status }) => status >= 500)).toEqual([]);
    expect(await service.store.search.slotsTaken('ada' as never)).toEqual({ user: 0, installation: 0 });
    expect([...service.runtime.presences.values()]).toEqual([]);
  },
  3_000_000,
);

async function racetrack(service: Service): Promise<Racetrack> {
  const jitter = waitsUpTo(WAIT_MS_MAX);
  slow(service, jitter);
  const socketPath = path.join(service.folder, 'webhook.sock');
  const webhooks = await startWebhookServer(service.world, socketPath, service.store.audit);
  onTestFinished(() => webhooks.close());
  let users = 0;
  return {
    call: service.call,
    jitter,
    newUser: () => service.issue(`runner-${(users += 1)}`),
    callBack: lateAgent(socketPath),
  };
}

/** Every step outside the engine takes a moment of its own; a shell would take its time for nothing. */
function slow({ runtime, agent }: Service, jitter: () => Promise<void>): void {
  const { start, stop, destroy } = runtime;
  runtime.start = async (request) => (await jitter(), await start.call(runtime, request));
  runtime.stop = async (request) => (await jitter(), await stop.call(runtime, request));
  runtime.destroy = async (id) => (await jitter(), await destroy.call(runtime, id));
  agent.execute = async () => (await jitter(), { exitCode: 0, stdout: COMMIT, stderr: '' });
  const { sendMessage } = agent;
  agent.sendMessage = async (target, id, message) => (
    await jitter(),
    await sendMessage.call(agent, target, id, message)
  );
}
