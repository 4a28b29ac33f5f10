/** A conversation whose client calls another service each time: nothing happens twice, and nothing is lost. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startScriptedGateway } from '../scripted-gateway/started-gateway.ts';
import { callServed, type Served } from './served.ts';
import { eventually, type ServiceAnswer, type ServiceCall } from './service.ts';
import { openSeveralServices } from './several-services.ts';

const ALL_MS_MAX = 600_000;
const APP = '/api/v1/app-conversations';
const GATEWAY_KEY = 'sk-several';
const LIVES = 3;

const SCRIPT = `kind: gateway-script
version: 1
keys: [{ key: ${GATEWAY_KEY}, name: several }]
models: { vendor/small: { input: '150', output: '600' } }
scripts:
  - name: risky
    when: { contains: Clean up }
    turns:
      - say: I remove what is left over.
        tool: terminal
        arguments: { command: echo once >> done.txt, security_risk: HIGH, summary: Remove left-over files }
      - { say: All is clean. }
`;

const configOf = (url: string): string => `runtime: { isolation: none }
limits: { idle_time: 0 }
proxy_config:
  model_list:
    - model_name: coder
      proxyvendor_params:
        model: openai/vendor/small
        api_base: ${url}/v1
        api_key: os.environ/VENDOR_KEY
        input_cost_per_token: '0.00015'
        output_cost_per_token: '0.0006'
`;

async function startGateway(): Promise<string> {
  const script = path.join(tempDir(), 'gateway.yaml');
  writeFileSync(script, SCRIPT);
  return await startScriptedGateway(script, onTestFinished);
}

/** A client behind a balancer: every call goes to the next service. */
function balanced(services: readonly Served[], key: string) {
  let calls = 0;
  const next = (): Served => {
    const served = services[(calls += 1) % services.length];
    if (served === undefined) throw new Error('there is no service');
    return served;
  };
  const call = (one: ServiceCall): Promise<ServiceAnswer> => callServed(next(), key, one);
  return {
    next,
    call,
    get: async (path: string) => (await call({ path })).body,
    /** Sent twice under one key, to two services at once: as by a client that got no answer. */
    async twice(path: string, name: string, body: unknown) {
      const one = { method: 'POST', path, body, headers: { 'idempotency-key': name } };
      const answers = await Promise.all([call(one), call(one)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      return answers.map((answer) => answer.body);
    },
  };
}

type Client = ReturnType<typeof balanced>;

interface Frames {
  readonly numbers: readonly number[];
  readonly text: string;
}

/** From the service whose turn it is, until that ends it. */
function streamOf(client: Client, key: string, id: string): { frames(): Frames; ended: Promise<void> } {
  let text = '';
  const read = async (): Promise<void> => {
    const { url } = client.next();
    const answer = await fetch(`${url}/api/v1/conversation/${id}/events/stream`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? [])
      text += decoder.decode(chunk as Uint8Array, { stream: true });
  };
  return {
    ended: read(),
    frames: () => ({
      text,
      numbers: [...text.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number)),
    }),
  };
}

async function live(client: Client, key: string, name: string): Promise<string> {
  const started = await client.twice(APP, `start-${name}`, {
    title: name,
    secrets: { TOKEN: `value of ${name}` },
    initial_message: { content: [{ type: 'text', text: 'Clean up.' }] },
  });
  expect(new Set(started.map(({ id }) => id)).size).toBe(1);
  const task = await eventually(
    async () => (await client.get(`${APP}/start-tasks?ids=${started[0].id}`))[0],
    ({ status }) => status === 'READY' || status === 'ERROR',
  );
  expect([task.status, task.detail]).toEqual(['READY', null]);
  const id: string = task.app_conversation_id;
  const streams = [streamOf(client, key, id), streamOf(client, key, id), streamOf(client, key, id)];
  const record = async () => (await client.get(`${APP}?ids=${id}`))[0];
  await eventually(record, ({ execution_status: status }) => status === 'WAITING_FOR_CONFIRMATION');
  await client.twice(`${APP}/${id}/confirmation`, `confirm-${name}`, { accept: true });
  const all = (text: string) =>
    eventually(
      () => Promise.resolve(streams.map(({ frames }) => frames().text)),
      (texts) => texts.every((one) => one.includes(text)),
    );
  await all('All is clean.');
  const said = { content: [{ type: 'text', text: `word of ${name}` }], run: false };
  await client.twice(`${APP}/${id}/send-message`, `say-${name}`, said);
  await all(`word of ${name}`);

  const events = (await client.get(`/api/v1/conversation/${id}/events/search?limit=100`)).items;
  const count = (text: string): number =>
    events.filter((event: object) => JSON.stringify(event).includes(text)).length;
  expect(count(`word of ${name}`)).toBe(1);
  const actions = events.filter((event: { readonly kind: string }) => event.kind === 'ActionEvent');
  expect(actions.filter((event: object) => JSON.stringify(event).includes('done.txt'))).toHaveLength(1);
  for (const { frames } of streams) {
    const { numbers } = frames();
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  }
  const file = await client.get(`${APP}/${id}/file?file_path=done.txt`);
  expect(JSON.stringify(file).match(/once/g)).toHaveLength(1);

  expect((await client.call({ method: 'DELETE', path: `${APP}/${id}` })).status).toBe(200);
  await Promise.all(streams.map(({ ended }) => ended));
  for (const { frames } of streams) expect(frames().text).toContain('event: deleted');
  expect(await record()).toBeNull();
  return id;
}

describeWith('postgres', 'three services over one database', () => {
  describeWith('temporal', 'and one worker', () => {
    it(
      'serve lives whose every call goes to another one',
      async () => {
        const config = configOf(await startGateway());
        const env = { VENDOR_KEY: GATEWAY_KEY };
        const { services, key, beginWorker, run } = await openSeveralServices({ count: 3, config, env });
        await beginWorker();
        const client = balanced(services, key);
        const settings = await client.call({
          method: 'POST',
          path: '/api/v1/settings',
          body: { conversation_settings_diff: { confirmation_mode: true } },
        });
        expect(settings.status).toBe(200);
        const names = Array.from({ length: LIVES }, (_, index) => `life-${index}`);
        const ids = await Promise.all(names.map((name) => live(client, key, name)));
        expect(new Set(ids).size).toBe(LIVES);
        expect(await client.get(`${APP}/count`)).toBe(0);
        await eventually(
          () => client.get('/api/v1/sandboxes/search'),
          ({ items }) => items.every(({ status }: { readonly status: string }) => status === 'MISSING'),
        );
        const [left] = await run('select count(*)::int as count from start_task where delivered = 0');
        expect(left?.['count']).toBe(0);
      },
      ALL_MS_MAX,
    );
  });
});
