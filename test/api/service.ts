/**
 * The whole service in one process: real engine, store, activities and HTTP; runtime and agent are models in memory.
 * Owns the wiring, keys of two users and the waiting for a condition; must not assert what a route answers.
 */
import { onTestFinished } from 'vitest';
import { activitiesOf } from '../../activities/registry.ts';
import type { Application } from '../../api/application/application.ts';
import type { ConfigurationDesk } from '../../api/configuration/configuration-desk.ts';
import { dialectOf, type DialectName } from '../../api/application/dialect.ts';
import { APPLICATION_ROUTES } from '../../api/application/routes.ts';
import { startApplicationServer, type ApplicationServer } from '../../api/application/server.ts';
import type { AccessLine } from '../../api/application/access-line.ts';
import type { RateLimits } from '../../api/rates/rate-limit.ts';
import { takeUpStarts } from '../../api/conversations/start-delivery.ts';
import type { JobSimulator } from '../../api/jobs/job-simulator.ts';
import { extendApplication } from '../../api/application/extend.ts';
import { issueKey } from '../../api/keys/issue-key.ts';
import { takeUpSandboxes } from '../../api/sandboxes/sandbox-commands.ts';
import { userId } from '../../core/ids.ts';
import { Engine } from '../../engine/engine.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { World } from '../../activities/world.ts';
import type { AgentRelay } from '../../ports/agent-relay.ts';
import type { Deployment } from '../../ports/deployment.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { RateMeter } from '../../ports/rate-meter.ts';
import type { KeyScope } from '../../ports/api-keys.ts';
import { createJobCompiler } from '../../host/serve/job-compiler.ts';
import { SHA256 } from '../../host/job/job-file.ts';
import { builtProgram } from '../../host/sandboxes/places.ts';
import { createJobSimulator } from '../../cli/simulate/threaded-simulator.ts';
import { hashPlan } from '../../dsl/plan/plan-text.ts';
import { activityWorld, type ActivityWorld } from '../activities/activity-world.ts';
import { ModelAgent } from './model-agent.ts';

export interface Service extends Omit<ActivityWorld, 'agent'> {
  readonly application: Application;
  readonly server: ApplicationServer;
  readonly engine: Engine;
  readonly agent: ModelAgent;
  readonly lines: readonly AccessLine[];
  /** Keys of two users; the first may administer. */
  readonly ada: string;
  readonly ben: string;
  issue(user: string, change?: { readonly scope?: KeyScope; readonly expiresAt?: number }): Promise<string>;
  call(call: ServiceCall): Promise<ServiceAnswer>;
}

export interface ServiceCall {
  readonly method?: string;
  readonly path: string;
  /** Null sends none; Ada's when left out. */
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServiceAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text as JSON; a test knows what it asked for. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- every answer has another shape
  readonly body: any;
}

export interface ServiceOptions {
  readonly deployment?: Partial<Deployment>;
  readonly dialect?: DialectName;
  readonly rateLimits?: RateLimits;
  /** Stands for what several services share. */
  readonly rateMeter?: RateMeter;
  readonly corsOrigins?: readonly string[];
  /** Stands between the API and the engine. */
  readonly requests?: (engine: Notifier) => Notifier;
  /** Leads to a stand-in for the Agent Server; by default there is none. */
  readonly relay?: AgentRelay;
  /** Stands for the file that the service was started with. */
  readonly configuration?: ConfigurationDesk;
  /** Plays jobs; by default a thread of the built program does. */
  readonly simulator?: JobSimulator | null;
  /** A world that another service has left behind. */
  readonly around?: ActivityWorld;
}

/** More than any test starts. */
const ROOM = { installationMax: 50, userMax: 50, conversationsPerSandboxMax: 20 };

/** Long enough that nothing is slowed by looking, short enough that no test is. */
const POLL_MS = 10;
const UNTIL_MS = 180_000;

export async function openService(options: ServiceOptions = {}): Promise<Service> {
  const around =
    options.around ?? (await activityWorld({ capacity: ROOM, pollMs: POLL_MS, ...options.deployment }));
  const agent = new ModelAgent();
  const late: { engine: Engine | null } = { engine: null };
  const deliver: Notifier['deliver'] = (delivery) =>
    late.engine?.deliver(delivery) ?? Promise.reject(new Error('there is no engine yet'));
  const world: World = { ...around.world, agent, notifier: { deliver }, clock: systemClock };
  agent.world = world;
  const engine = new Engine({
    store: around.store.engine,
    activities: activitiesOf(world),
    clock: systemClock,
  });
  late.engine = engine;
  const { application, listening } = applicationOf({ around, world, engine, options });
  await takeUpStarts(application);
  await takeUpSandboxes(application);
  await engine.start();
  const lines: AccessLine[] = [];
  const server = await startApplicationServer(application, {
    at: { host: '127.0.0.1', port: 0 },
    routes: APPLICATION_ROUTES,
    log: (line) => void lines.push(line),
    ...(options.rateLimits === undefined ? {} : { rateLimits: options.rateLimits }),
    ...(options.corsOrigins === undefined ? {} : { corsOrigins: options.corsOrigins }),
    extend: extendApplication(application),
  });
  listening.url = server.url;
  onTestFinished(async () => {
    await server.close();
    await engine.stop();
  });
  const issue: Service['issue'] = async (user, { scope = 'user', expiresAt = null } = {}) => {
    const directive = {
      userId: userId(user),
      name: user,
      scope,
      now: Date.now(),
      notBefore: null,
      expiresAt,
    };
    return (await issueKey(around.store.apiKeys, directive)).key;
  };
  const ada = await issue('ada', { scope: 'admin' });
  const ben = await issue('ben');
  return {
    ...around,
    ...{ world, application, server, engine, agent, lines, ada, ben, issue },
    call: (call) => send(server.url, call.key === undefined ? ada : call.key, call),
  };
}

function applicationOf({
  around,
  world,
  engine,
  options,
}: {
  readonly around: ActivityWorld;
  readonly world: World;
  readonly engine: Engine;
  readonly options: ServiceOptions;
}): { readonly application: Application; readonly listening: { url: string } } {
  const listening = { url: 'http://127.0.0.1' };
  const { search, startTasks, idempotencyKeys, apiKeys, documents, audit, eventSearch, eventWakes } =
    around.store;
  const { overview, proxyKeys, accounts } = around.store;
  const application: Application = {
    ...{ search, startTasks, idempotencyKeys, apiKeys, documents, audit, eventSearch, eventWakes, world },
    ...{ overview, proxyKeys, accounts },
    rateMeter: options.rateMeter ?? around.store.rateMeter,
    runLog: around.store.lifecycle,
    troubles: around.store.troubles,
    configuration: options.configuration ?? null,
    requests: options.requests?.(engine) ?? engine,
    relay: options.relay ?? { connect: () => Promise.reject(new Error('no Agent Server listens here')) },
    dialect: dialectOf(options.dialect ?? 'spec'),
    models: ['coder', 'small'],
    jobs: createJobCompiler({ models: () => ['coder', 'small'], deployment: world.deployment }),
    simulator:
      options.simulator === undefined
        ? createJobSimulator(builtProgram('plan-player.js'))
        : options.simulator,
    publicUrl: () => listening.url,
    planHash: ({ hash: _hash, ...plan }) => hashPlan(plan, SHA256),
    randomHex: (digits) => crypto.randomUUID().replaceAll('-', '').slice(0, digits).padEnd(digits, '0'),
    version: '0.0.0',
  };
  return { application, listening };
}

export async function send(url: string, key: string | null, call: ServiceCall): Promise<ServiceAnswer> {
  const { method = 'GET', path, body, headers = {} } = call;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? (JSON.parse(text) as unknown) : null,
  };
}

/** Asks again until the answer fits. @throws Error with the last answer when it never does */
export async function eventually<Value>(
  ask: () => Promise<Value>,
  fits: (value: Value) => boolean,
): Promise<Value> {
  const end = Date.now() + UNTIL_MS;
  for (;;) {
    const value = await ask();
    if (fits(value)) return value;
    if (Date.now() > end) throw new Error(`it never came; the last was ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export interface Started {
  readonly taskId: string;
  readonly id: string;
  readonly sandboxId: string;
}

/** Starts a conversation and waits for READY. */
export async function startReady(service: Service, body: object = {}, key?: string): Promise<Started> {
  const path = '/api/v1/app-conversations';
  const keyed = key === undefined ? {} : { key };
  const { body: task } = await service.call({ method: 'POST', path, body, ...keyed });
  const tasks = await eventually(
    async () => (await service.call({ path: `${path}/start-tasks?ids=${task.id}`, ...keyed })).body,
    ([found]) => found.status === 'READY' || found.status === 'ERROR',
  );
  if (tasks[0].status !== 'READY') throw new Error(`the start failed: ${tasks[0].detail}`);
  return { taskId: task.id, id: tasks[0].app_conversation_id, sandboxId: tasks[0].sandbox_id };
}
