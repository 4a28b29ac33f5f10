/** What answers of gateways of many products are taken for, and which lists hold a model. */
import { describe, expect, it } from 'vitest';
import { isListed, readModelCall, readModelList } from '../../../host/preflight/gateway-answer.ts';

const answer = (status: number, body: unknown, location: string | null = null) => ({
  status,
  location,
  text: typeof body === 'string' ? body : JSON.stringify(body),
});

describe('a list of models', () => {
  it.each([
    ['of OpenAI', answer(200, { object: 'list', data: [{ id: 'a' }, { id: 'b' }] }), ['a', 'b']],
    ['without an object around it', answer(200, [{ id: 'a' }]), ['a']],
    ['of plain names', answer(200, { data: ['a'] }), ['a']],
  ])('%s is read', (_name, given, ids) => {
    expect(readModelList(given)).toEqual({ kind: 'listed', ids });
  });

  it.each([
    ['an empty one', answer(200, { data: [] })],
    ['a page', answer(200, '<html></html>')],
    ['no such route', answer(404, 'not found')],
    ['no such method', answer(405, '')],
  ])('is missing where there is %s', (_name, given) => {
    expect(readModelList(given)).toEqual({ kind: 'no_list' });
  });

  it.each([
    [answer(401, { error: { message: 'Incorrect API key' } }), 'key_refused', '401: Incorrect API key'],
    [answer(403, { detail: 'no' }), 'key_refused', '403: no'],
    [
      // A proxy without a database, to a key that is not its master key.
      answer(400, { error: { message: 'No connected db.', type: 'no_db_connection' } }),
      'key_refused',
      '400: No connected db.',
    ],
    [answer(429, { error: { code: 'insufficient_quota', message: 'spent' } }), 'quota_used_up', '429: spent'],
    [answer(429, { error: 'slow down' }), 'in_trouble', '429: slow down'],
    [answer(503, '<html>busy</html>'), 'in_trouble', '503'],
  ])('is refused: %o', (given, kind, said) => {
    expect(readModelList(given)).toEqual({ kind, said });
  });

  it('is nowhere where the gateway leads elsewhere', () => {
    expect(readModelList(answer(308, '', 'https://b/v1/models'))).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringContaining('"https://b/v1/models"') as string,
    });
  });

  it('tells of an error one short line', () => {
    const given = answer(401, { error: { message: `a\n${'b'.repeat(1_000)}` } });
    const { said } = readModelList(given) as { readonly said: string };
    expect(said).toMatch(/^401: a b+$/);
    expect(said.length).toBeLessThan(220);
  });
});

describe('a call of a model', () => {
  it.each([
    ['an answer', answer(200, { choices: [] }), 'served'],
    [
      'a complaint about the call alone',
      answer(400, { error: { message: 'use max_completion_tokens' } }),
      'served',
    ],
    ['a model that is not there', answer(404, {}), 'unknown_model'],
    [
      'one that is not known',
      answer(400, { error: { message: 'The model `x` does not exist' } }),
      'unknown_model',
    ],
    ['a refused key', answer(401, {}), 'key_refused'],
    ['a page of something else', answer(200, '<html></html>'), 'unreachable'],
  ])('with %s', (_name, given, kind) => {
    expect(readModelCall(given).kind).toBe(kind);
  });
});

it.each([
  [['a', 'b'], 'b', true],
  [['a'], 'A', false],
  [['models/gemini'], 'gemini', true],
  [['openai/*'], 'openai/x', true],
  [['openai/*'], 'x', false],
  [['*'], 'whatever', true],
  [['ab'], 'a', false],
])('a list of %o has "%s": %s', (ids, model, has) => {
  expect(isListed(ids, model)).toBe(has);
});
