/** Text that is none, a key that is none, a message that says nothing: each with one answer on every route. */
import { describe, expect, it } from 'vitest';
import { bodyText, jsonBody } from '../../api/application/json-body.ts';
import { demoPlan } from '../cli/rows.ts';
import { eventually, openService, startReady } from './service.ts';

const APP = '/api/v1/app-conversations';
/** As they come in: `JSON.stringify` writes half of a pair as an escape. */
const HIGH = String.fromCharCode(0xd8_3d);
const LOW = String.fromCharCode(0xde_00);

const refusal = (text: string): unknown => {
  try {
    return jsonBody(text);
  } catch (error) {
    return (error as { readonly findings?: unknown }).findings ?? (error as Error).message;
  }
};

describe('a body', () => {
  it('is refused with the place of text that is none', () => {
    const body = { tags: { a: ['x', `y${HIGH}`] }, b: LOW };
    expect(refusal(JSON.stringify(body))).toEqual([
      expect.objectContaining({ loc: ['body', 'b'], type: 'string_unicode' }),
      expect.objectContaining({ loc: ['body', 'tags', 'a', 1] }),
    ]);
    expect(refusal(JSON.stringify({ [`k${LOW}`]: 1 }))).toMatchObject([{ loc: ['body'] }]);
    expect(refusal(JSON.stringify({ a: `${LOW}${HIGH}` }))).toHaveLength(1);
  });

  it('is refused with the key that is none, spelled out or escaped', () => {
    expect(refusal('{"a":{"__proto__":{"run":true}}}')).toMatchObject([{ loc: ['body', 'a'] }]);
    expect(refusal(String.raw`{"\u005f_proto__":1}`)).toMatchObject([{ loc: ['body'] }]);
  });

  it('is taken with every other text and key', () => {
    const body = { title: `${HIGH}${LOW} \\ud83d __proto__ \u0000`, constructor: 1, list: [null, {}] };
    expect(refusal(JSON.stringify(body))).toEqual(body);
    expect(refusal('{')).toContain('it is no JSON');
  });

  it('is looked through however deep it is', () => {
    const deep = `${'['.repeat(5_000)}"\\ud800"${']'.repeat(5_000)}`;
    expect(refusal(deep)).toHaveLength(1);
    const levels = (count: number): string => `${'{"a":'.repeat(count)}1${'}'.repeat(count)}`;
    expect(refusal(levels(5_000))).toMatchObject([{ loc: ['body'] }]);
    expect(refusal(levels(201))).toHaveLength(1);
    expect(refusal(levels(200))).toEqual(JSON.parse(levels(200)));
  });

  it('is refused where its bytes are no UTF-8', () => {
    const bytes = (...odd: number[]) => Buffer.from(['"'.charCodeAt(0), ...odd, '"'.charCodeAt(0)]);
    expect(bodyText(bytes(0xc3, 0xa9))).toBe('"é"');
    // Latin-1, half of a pair spelled as bytes, a character that is cut.
    for (const odd of [[0xe9], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]])
      expect(() => bodyText(bytes(...odd))).toThrow(/UTF-8/);
  });
});

it('is 422 on every route that takes text, and nothing comes of it', async () => {
  const service = await openService();
  const { id } = await startReady(service);
  const message = { content: [{ type: 'text', text: `a${HIGH}` }] };
  const calls = [
    ['POST', APP, { title: HIGH }],
    ['POST', APP, { initial_message: message }],
    ['POST', `${APP}/${id}/send-message`, message],
    ['PATCH', `${APP}/${id}`, { tags: { a: LOW } }],
    ['POST', '/api/keys', { name: `k${HIGH}` }],
  ] as const;
  for (const [method, path, body] of calls) {
    const answer = await service.call({ method, path, body });
    expect([path, answer.status, answer.body.code]).toEqual([path, 422, 'invalid_request']);
  }
  expect((await service.call({ path: `${APP}/start-tasks/count` })).body).toBe(1);
});

it('is 422 for bytes that are no text, and for a plan that nests without end', async () => {
  const service = await openService();
  const bytes = await fetch(`${service.server.url}${APP}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.ada}`, 'content-type': 'application/json' },
    body: Buffer.from('{"title":"caf\xe9"}', 'latin1'),
  });
  expect([bytes.status, await bytes.json()]).toMatchObject([422, { code: 'invalid_request' }]);
  const body = JSON.stringify({ plan: { ...demoPlan(), schedule: '@' } }).replace(
    '"@"',
    `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  );
  expect((await service.call({ method: 'POST', path: '/api/v1/runs', body })).status).toBe(422);
  expect((await service.call({ path: `${APP}/start-tasks/count` })).body).toBe(0);
});

it('starts no model for a plan whose prompt says nothing', async () => {
  const service = await openService();
  const items = demoPlan().items.map((item) => ({ ...item, prompt: ' \n' }));
  const body = { plan: { ...demoPlan(), items } };
  const answer = await service.call({ method: 'POST', path: '/api/v1/runs', body });
  expect([answer.status, answer.body.detail[0]]).toMatchObject([
    422,
    { loc: ['body', 'plan', 'items', 0, 'prompt'] },
  ]);
});

it('starts no model for a message that says nothing', async () => {
  const service = await openService();
  const blank = { content: [{ type: 'text', text: ' \n\t' }] };
  const { id } = await startReady(service, { initial_message: blank });
  const record = await eventually(
    async () => (await service.call({ path: `${APP}?ids=${id}` })).body[0],
    ({ start_task_status: start }) => start === 'READY',
  );
  expect(record).toMatchObject({ execution_status: 'IDLE', queued_messages: 0 });
  const sent = await service.call({ method: 'POST', path: `${APP}/${id}/send-message`, body: blank });
  expect([sent.status, sent.body.detail[0].msg]).toEqual([422, 'content must have text']);
  const pending = await service.call({
    ...{ method: 'POST', body: blank },
    path: `/api/v1/conversations/${id}/pending-messages`,
  });
  expect(pending.status).toBe(422);
});
