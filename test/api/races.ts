/**
 * Two callers at once where it matters, each race over the API alone, so that any service can be raced.
 * Owns what is done at the same time and what must hold afterwards; when each begins is drawn from a seed.
 */
import { expect } from 'vitest';
import type { ServiceAnswer, ServiceCall } from './service.ts';

export interface Racetrack {
  call(call: ServiceCall): Promise<ServiceAnswer>;
  /** A key of a user who has nothing yet. */
  newUser(): Promise<string>;
  /** What the Agent Server of a conversation would send of its own accord. */
  callBack(conversation: { readonly id: string; readonly sessionKey: string }): Promise<number>;
  /** Waits for as many milliseconds as the seed says, or not at all. */
  jitter(): Promise<void>;
}

const APP = '/api/v1/app-conversations';
const SANDBOXES = '/api/v1/sandboxes';
/** A record that never comes is a race that was lost; loaded machines are slow. */
const UNTIL_MS = 180_000;
const POLL_MS = 15;

/** A user on the track. */
class Runner {
  private readonly track: Racetrack;
  private readonly key: string;

  constructor(track: Racetrack, key: string) {
    this.track = track;
    this.key = key;
  }

  post(path: string, body?: unknown): Promise<ServiceAnswer> {
    return this.track.call({ method: 'POST', path, key: this.key, ...(body === undefined ? {} : { body }) });
  }

  get(path: string): Promise<ServiceAnswer> {
    return this.track.call({ path, key: this.key });
  }

  delete(path: string): Promise<ServiceAnswer> {
    return this.track.call({ method: 'DELETE', path, key: this.key });
  }

  /** Begins after a wait of its own. */
  async soon<Value>(what: () => Promise<Value>): Promise<Value> {
    await this.track.jitter();
    return await what();
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- records as they came
  async until(path: string, fits: (body: any) => boolean): Promise<any> {
    const end = Date.now() + UNTIL_MS;
    for (;;) {
      const { body } = await this.get(path);
      if (fits(body)) return body;
      if (Date.now() > end) throw new Error(`it never came: ${path}: ${JSON.stringify(body)}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** The task in the end. */
  async ended(taskId: string): Promise<{ status: string; app_conversation_id: string; sandbox_id: string }> {
    const [task] = await this.until(
      `${APP}/start-tasks?ids=${taskId}`,
      ([one]) => one.status === 'READY' || one.status === 'ERROR',
    );
    return task;
  }

  async ready(body: object = {}): Promise<{ readonly id: string; readonly sandboxId: string }> {
    const { body: task } = await this.post(APP, body);
    const { status, app_conversation_id: id, sandbox_id: sandboxId } = await this.ended(task.id);
    expect(status).toBe('READY');
    return { id, sandboxId };
  }

  async released(sandboxId: string): Promise<void> {
    await this.post(`${SANDBOXES}/${sandboxId}/pause`);
    await this.until(`${SANDBOXES}?id=${sandboxId}`, ([one]) => isReleased(one));
  }

  /** Everything this user has is taken away again, and really goes. */
  async leave(): Promise<void> {
    for (const { id } of (await this.get(`${SANDBOXES}/search`)).body.items as { id: string }[])
      await this.delete(`${SANDBOXES}/${id}`);
    await this.until(`${SANDBOXES}/search`, ({ items }) =>
      items.every((one: { status: string }) => one.status === 'MISSING'),
    );
  }
}

interface SandboxSeen {
  readonly status: string;
  readonly pause_reason: string | null;
  readonly transition: string | null;
}

const isReleased = ({ status, pause_reason: why, transition }: SandboxSeen): boolean =>
  status === 'PAUSED' && why !== null && transition === null;
const rests = ({ status, transition }: SandboxSeen): boolean => status !== 'STARTING' && transition === null;

const said = (text: string) => ({ content: [{ type: 'text', text }], run: false });

type Race = (runner: Runner, track: Racetrack) => Promise<void>;

/** The user may have one sandbox. Exactly one start gets it, and the other is refused, not accepted (D29). */
const lastSlot: Race = async (runner) => {
  const answers = await Promise.all([1, 2].map(() => runner.soon(() => runner.post(APP, {}))));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 429]);
  for (const { status, body } of answers)
    expect([200, body.code]).toEqual([200, status === 200 ? undefined : 'concurrency_limit_reached']);
  const tasks = await Promise.all(
    answers.filter(({ status }) => status === 200).map(({ body }) => runner.ended(body.id as string)),
  );
  expect(tasks.filter(({ status }) => status === 'READY')).toHaveLength(1);
  const { items } = (await runner.get(`${SANDBOXES}/search`)).body;
  expect(items.filter(({ status }: SandboxSeen) => status === 'RUNNING')).toHaveLength(1);
};

/** A message that was accepted is delivered once, whatever happens to the sandbox meanwhile (D7). */
const messageWhilePausing: Race = async (runner) => {
  const { id, sandboxId } = await runner.ready();
  const [pause, message] = await Promise.all([
    runner.soon(() => runner.post(`${SANDBOXES}/${sandboxId}/pause`)),
    runner.soon(() => runner.post(`${APP}/${id}/send-message`, said('meanwhile'))),
  ]);
  expect([pause.status, message.status]).toEqual([200, 200]);
  const events = `/api/v1/conversation/${id}/events/search?kind__eq=MessageEvent`;
  await runner.until(events, ({ items }) => JSON.stringify(items).includes('meanwhile'));
  await runner.until(`${APP}?ids=${id}`, ([one]) => one.queued_messages === 0);
  await runner.until(`${SANDBOXES}?id=${sandboxId}`, ([one]) => rests(one));
  const { items } = (await runner.get(events)).body;
  const told = items.filter((event: object) => JSON.stringify(event).includes('meanwhile'));
  expect(told).toHaveLength(1);
};

/** A deletion that was accepted is never undone (D14). */
const deleteWhileResuming: Race = async (runner) => {
  const { id, sandboxId } = await runner.ready();
  await runner.released(sandboxId);
  const [resume, gone] = await Promise.all([
    runner.soon(() => runner.post(`${SANDBOXES}/${sandboxId}/resume`)),
    runner.soon(() => runner.delete(`${SANDBOXES}/${sandboxId}`)),
  ]);
  expect(gone.status).toBe(200);
  expect([200, 409]).toContain(resume.status);
  await runner.until(`${SANDBOXES}?id=${sandboxId}`, ([one]) => one.status === 'MISSING' && rests(one));
  const late = await runner.post(`${SANDBOXES}/${sandboxId}/resume`);
  expect([late.status, late.body.code]).toEqual([409, 'sandbox_error']);
  const [record] = (await runner.get(`${APP}?ids=${id}`)).body;
  expect([record.sandbox_status, record.session_api_key]).toEqual(['MISSING', null]);
};

/** A conversation is never placed in a sandbox that is deleted with its last earlier conversation (D11). */
const deleteLastWhilePlacing: Race = async (runner) => {
  await runner.post('/api/v1/settings', { sandbox_grouping_strategy: 'ADD_TO_ANY' });
  const last = await runner.ready();
  const [gone, start] = await Promise.all([
    runner.soon(() => runner.delete(`${APP}/${last.id}`)),
    runner.soon(() => runner.post(APP, {})),
  ]);
  expect([gone.status, start.status]).toEqual([200, 200]);
  const task = await runner.ended(start.body.id as string);
  expect(task.status).toBe('READY');
  await runner.until(`${APP}?ids=${last.id}`, ([one]) => one === null);
  const [home] = await runner.until(`${SANDBOXES}?id=${task.sandbox_id}`, ([one]) => rests(one));
  expect(home.status).toBe('RUNNING');
  const expected = task.sandbox_id === last.sandboxId ? 'RUNNING' : 'MISSING';
  await runner.until(`${SANDBOXES}?id=${last.sandboxId}`, ([one]) => one.status === expected);
};

/** A late webhook restores nothing (D11). */
const webhookAfterDelete: Race = async (runner, track) => {
  const { id } = await runner.ready();
  const [{ session_api_key: sessionKey }] = (await runner.get(`${APP}?ids=${id}`)).body;
  const [gone, ...told] = await Promise.all([
    runner.soon(() => runner.delete(`${APP}/${id}`)),
    ...[1, 2, 3].map(() => runner.soon(() => track.callBack({ id, sessionKey }))),
  ]);
  expect(gone.status).toBe(200);
  for (const status of told) expect([200, 401]).toContain(status);
  await runner.until(`${APP}?ids=${id}`, ([one]) => one === null);
  expect([200, 401]).toContain(await track.callBack({ id, sessionKey }));
  expect((await runner.get(`${APP}?ids=${id}`)).body).toEqual([null]);
  expect((await runner.get(`/api/v1/conversation/${id}/events/search`)).body.items).toEqual([]);
  expect((await runner.get(`${APP}/count`)).body).toBe(0);
};

/** Two calls that resume a sandbox start one generation. */
const resumeTwice: Race = async (runner) => {
  const { id, sandboxId } = await runner.ready();
  const [{ session_api_key: before }] = (await runner.get(`${APP}?ids=${id}`)).body;
  await runner.released(sandboxId);
  const answers = await Promise.all(
    [1, 2].map(() => runner.soon(() => runner.post(`${SANDBOXES}/${sandboxId}/resume`))),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const [up] = await runner.until(
    `${SANDBOXES}?id=${sandboxId}`,
    ([one]) => one.status === 'RUNNING' && one.session_api_key !== null,
  );
  expect(up.session_api_key).not.toBe(before);
  // Had the second one begun a generation of its own, the key of the first would not stay.
  await runner.until(`${APP}?ids=${id}`, ([one]) => one.session_api_key === up.session_api_key);
  const [later] = await runner.until(`${SANDBOXES}?id=${sandboxId}`, ([one]) => rests(one));
  expect(later.session_api_key).toBe(up.session_api_key);
};

/** By name; the first needs room for one sandbox per user, the others for more. */
export const RACES = {
  'two starts for the last slot': { race: lastSlot, room: 1 },
  'a message while the sandbox is pausing': { race: messageWhilePausing, room: 5 },
  'a deletion while the sandbox is resuming': { race: deleteWhileResuming, room: 5 },
  'the last conversation deleted while another is placed': { race: deleteLastWhilePlacing, room: 5 },
  'a webhook after a deletion': { race: webhookAfterDelete, room: 5 },
  'a sandbox resumed twice': { race: resumeTwice, room: 5 },
} as const satisfies Readonly<Record<string, { readonly race: Race; readonly room: number }>>;
export type RaceName = keyof typeof RACES;

/** Each time with a user of its own, some at once. @throws the first that was lost */
export async function runRaces(
  track: Racetrack,
  name: RaceName,
  { times, atOnce }: { readonly times: number; readonly atOnce: number },
): Promise<void> {
  let left = times;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const runner = new Runner(track, await track.newUser());
      await RACES[name].race(runner, track);
      await runner.leave();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
