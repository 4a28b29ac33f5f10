/** The recipes of docs/spec.md as they stand in examples/recipes: what the gateway sees is what the table says. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { conversationId } from '../../../core/ids.ts';
import { reconcile } from '../../../core/reconcile/reconcile.ts';
import { parseExport } from '../../../clients/gateway/export-rows.ts';
import { CONVERSATION_ID } from '../../agent/harness.ts';
import { PLAIN_KEY, readConfig, send, SESSION_ID, startProxy } from '../../proxy/proxy-under-test.ts';
import { startStubGateway, type SeenRequest } from '../../proxy/stub-gateway.ts';
import { KEYS, profileOf, readRecipe, RECIPES, startRecipe } from './recipe-chain.ts';

const SESSION = 'x-proxyvendor-session-id';
const METADATA = 'x-proxyvendor-spend-logs-metadata';
const header = (seen: readonly SeenRequest[], name: string) => seen.map(({ headers }) => headers[name]);
const ownHeaders = ({ headers }: SeenRequest) => Object.keys(headers).filter((name) => name.startsWith('x-'));

describe('recipe 1', () => {
  it("G22: the gateway sees the team's key, chosen by the entry, and no header of the caller", async () => {
    const { converse } = await startRecipe('team-keys');
    const red = await converse({ model: 'openai/coder-red' });
    const blue = await converse({ model: 'openai/coder-blue' });
    expect(header(red, 'authorization')).toEqual([
      `Bearer ${KEYS.PARLEY_GATEWAY_KEY_RED}`,
      `Bearer ${KEYS.PARLEY_GATEWAY_KEY_RED}`,
    ]);
    expect(new Set(header(blue, 'authorization'))).toEqual(
      new Set([`Bearer ${KEYS.PARLEY_GATEWAY_KEY_BLUE}`]),
    );
    expect([...red, ...blue].flatMap(ownHeaders)).toEqual([]);
  });
});

describe('recipe 2', () => {
  it("G12, G13, G23: the gateway sees the profile's headers on each of its calls", async () => {
    const { converse } = await startRecipe('profile-headers');
    const { llm } = profileOf('ada');
    // The address of the profile is that of a proxy on its usual port; the path is what counts.
    expect(new URL(llm.base_url).pathname).toBe('/v1');
    const seen = await converse({ model: llm.model, extra_headers: llm.extra_headers });
    expect(seen).toHaveLength(2);
    for (const { headers, body } of seen) {
      expect(headers).toMatchObject(llm.extra_headers);
      expect(JSON.parse(body)).toMatchObject({ model: 'acme/coder-1' });
    }
  });

  it('G28: attribution per user takes a profile per user', async () => {
    const { converse } = await startRecipe('profile-headers');
    const users: unknown[] = [];
    for (const name of ['ada', 'bob']) {
      const { llm } = profileOf(name);
      users.push(
        ...header(await converse({ model: llm.model, extra_headers: llm.extra_headers }), 'x-user-id'),
      );
    }
    expect(users).toEqual(['ada', 'ada', 'bob', 'bob']);
  });

  it('G20, G21, G46: x- and anthropic- are forwarded without x-stainless-, and the session is the conversation', async () => {
    const { converse, proxy } = await startRecipe('profile-headers');
    const extra = {
      'x-team': 'search',
      'anthropic-beta': 'tools',
      'x-stainless-lang': 'js',
      other: 'stays here',
      [SESSION]: 'forged-by-the-profile',
    };
    const seen = await converse({ model: 'openai/coder', extra_headers: extra });
    for (const { headers } of seen) {
      expect(headers).toMatchObject({ 'x-team': 'search', 'anthropic-beta': 'tools', [SESSION]: SESSION_ID });
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['x-stainless-lang']));
      expect(headers['other']).toBeUndefined();
    }
    expect((await proxy.rows()).map(({ sessionId }) => sessionId)).toEqual([SESSION_ID, SESSION_ID]);
  });

  it('G21: the agent itself stamps its conversation, which a key that is bound to none passes on', async () => {
    const { converse } = await startRecipe('profile-headers');
    const seen = await converse({
      model: 'openai/coder',
      api_key: PLAIN_KEY,
      extra_headers: { [SESSION]: 'forged' },
    });
    const own = CONVERSATION_ID.replaceAll('-', '');
    expect(header(seen, SESSION).map((id) => id?.replaceAll('-', ''))).toEqual([own, own]);
  });

  it('G10: forwarding is a boolean, and off unless it is set', async () => {
    const { problems } = readConfig({ general_settings: { forward_client_headers_to_llm_api: 'maybe' } });
    expect(problems.filter(({ severity }) => severity === 'error')).toHaveLength(1);
    const { converse } = await startRecipe('team-keys');
    const seen = await converse({ model: 'openai/coder-red', extra_headers: { 'x-team': 'search' } });
    expect(seen.flatMap(ownHeaders)).toEqual([]);
  });
});

describe('recipe 3', () => {
  it('G24: the gateway sees the same headers on every request of every user', async () => {
    const { converse, proxy, gateway } = await startRecipe('static-headers');
    await converse({ model: 'openai/coder' });
    await send({ url: proxy.url, key: PLAIN_KEY, headers: { 'x-gateway-tenant': 'forged' } });
    expect(header(gateway.seen, 'x-gateway-tenant')).toEqual(['engineering', 'engineering', 'engineering']);
    expect(new Set(header(gateway.seen, 'x-gateway-auth-token'))).toEqual(
      new Set([KEYS.PARLEY_GATEWAY_TENANT_TOKEN]),
    );
  });

  it.each(['anthropic', 'openai', 'bedrock', 'azure', 'vertex'])(
    'G47: not with the provider %s',
    (provider) => {
      const settings = {
        llm_provider: provider,
        custom_llm_extra_headers: { 'x-gateway-tenant': 'engineering' },
      };
      const { problems } = readConfig({ general_settings: settings });
      expect(problems.filter(({ severity }) => severity === 'error')).toHaveLength(1);
    },
  );
});

describe('recipe 4', () => {
  it('G25: the gateway sees the header, and our spend log has it parsed', async () => {
    const { converse, proxy } = await startRecipe('spend-metadata');
    const { llm } = profileOf('ada-metadata');
    const seen = await converse({ model: llm.model, extra_headers: llm.extra_headers });
    expect(header(seen, METADATA)).toEqual([llm.extra_headers[METADATA], llm.extra_headers[METADATA]]);
    expect((await proxy.rows()).map(({ metadata }) => metadata)).toEqual([
      { user: 'ada', project: 'search' },
      { user: 'ada', project: 'search' },
    ]);
  });
});

describe('recipe 5', () => {
  const TAGS = { team: 'planted-team', ticket: 'planted-ticket' };

  it('G26: the gateway sees nothing of the tags', async () => {
    const { converse } = await startRecipe('profile-headers');
    const seen = await converse({ model: 'openai/coder' }, { tags: TAGS });
    expect(seen).toHaveLength(2);
    expect(JSON.stringify(seen)).not.toMatch(/planted-(team|ticket)/);
  });

  it('G26: rows without ids are joined by model and time once one pair shows the clocks, and tags add up', async () => {
    const gateway = await startStubGateway();
    let now = Date.UTC(2026, 10, 21);
    const proxy = await startProxy({ origin: gateway.origin, now: () => now });
    const ids = ['a', 'b', 'c'].map((digit) => conversationId(digit.repeat(32)));
    for (const sessionId of ids) {
      await send({ url: proxy.url, key: PLAIN_KEY, headers: { [SESSION]: sessionId } });
      now += 60_000;
    }
    const calls = await proxy.rows();
    const lines = calls.map(({ startedAt }, index) =>
      JSON.stringify({
        time: new Date(startedAt + 250).toISOString(),
        model: 'prov/up',
        cost: `0.00000${index + 1}`,
      }),
    );
    const joined = (ids: readonly (string | null)[]) =>
      reconcile({
        gatewayRows: parseExport(lines.join('\n'), 'jsonl').map((row, index) => ({
          ...row,
          responseId: ids[index] ?? null,
        })),
        spendRows: calls.map((call, index) => ({ ...call, responseId: `r${index}` })),
        conversations: calls.map(({ sessionId }, index) => ({
          conversationId: conversationId(sessionId ?? ''),
          key: null,
          tags: { team: index === 0 ? 'red' : 'blue' },
          attemptIds: [],
        })),
        isForwarding: false,
        windowBeforeMs: 1_000,
        windowAfterMs: 1_000,
        ambiguous: 'keep',
      });
    // Without any id nothing says how the clocks differ, and nothing is certain (D35).
    expect(joined([]).counts).toMatchObject({ byWindow: 0, ambiguous: 3, unbilled: 3 });
    const result = joined(['r0']);
    expect(result.counts).toMatchObject({ byWindow: 2, byResponseId: 1, bySession: 0, unbilled: 0 });
    expect(result.breakdown.byTag['team']?.map(({ name, assigned }) => [name, assigned])).toEqual([
      ['blue', 5_000],
      ['red', 1_000],
    ]);
    expect(result.conversations.map((one) => one.conversationId)).toEqual(ids);
  });
});

describe('recipes 1 and 2 together', () => {
  it("G27: the gateway sees the team's key and the profile's headers", async () => {
    const { converse } = await startRecipe('team-keys-and-profiles');
    const seen = [
      ...(await converse({ model: 'openai/coder-red', extra_headers: profileOf('ada').llm.extra_headers })),
      ...(await converse({ model: 'openai/coder-blue', extra_headers: profileOf('bob').llm.extra_headers })),
    ];
    expect(seen.map(({ headers }) => [headers['authorization'], headers['x-user-id']])).toEqual([
      [`Bearer ${KEYS.PARLEY_GATEWAY_KEY_RED}`, 'ada'],
      [`Bearer ${KEYS.PARLEY_GATEWAY_KEY_RED}`, 'ada'],
      [`Bearer ${KEYS.PARLEY_GATEWAY_KEY_BLUE}`, 'bob'],
      [`Bearer ${KEYS.PARLEY_GATEWAY_KEY_BLUE}`, 'bob'],
    ]);
  });
});

describe('the agent', () => {
  it('G19: sends the id of its user, which is recorded and goes no further', async () => {
    const { converse, proxy } = await startRecipe('profile-headers');
    const seen = await converse({ model: 'openai/coder' });
    expect((await proxy.rows()).map(({ user }) => user)).toEqual(['user-17', 'user-17']);
    for (const { body } of seen) expect(JSON.parse(body)).not.toHaveProperty('user');
    expect(JSON.stringify(seen)).not.toContain('user-17');
  });
});

describe('the forms of a deployment', () => {
  const env = { GATEWAY_KEY: 'sk-a', GATEWAY_KEY_RED: 'sk-r', GATEWAY_KEY_BLUE: 'sk-b' };

  it.each(['cluster-values', 'vm-config'])('G16: %s holds a configuration without a problem', (name) => {
    expect(readRecipe(name, env).model_list.length).toBeGreaterThan(0);
  });

  it('G16: the chart values fill every variable that the entries name from the secret, and hold no key', () => {
    const text = readFileSync(path.join(RECIPES, 'cluster-values.yaml'), 'utf8');
    const values = parse(text) as { proxy: { secretEnvironment: { variables: readonly string[] } } };
    const named = [...text.matchAll(/os\.environ\/([A-Z_]+)/g)].map(([, variable]) => variable);
    expect(values.proxy.secretEnvironment.variables).toEqual(expect.arrayContaining([...new Set(named)]));
    expect(text).not.toMatch(/sk-/);
  });
});
