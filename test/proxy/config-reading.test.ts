/** The load checks (D25): every faulty configuration is read into problems that name the place and never a key. */
import { describe, expect, it } from 'vitest';
import { HEADERS_KEPT_BACK_DEFAULT } from '../../proxy/config/config.ts';
import { parseProxyConfig } from '../../proxy/config/config-reading.ts';
import { entryFor, readConfig } from './proxy-under-test.ts';

const ORIGIN = 'http://127.0.0.1:4000';

/** "severity: message" of the only entry's problems. */
function problemsOf(params: object): string[] {
  const list = [entryFor(ORIGIN, params as Record<string, unknown>)];
  return readConfig({ model_list: list }).problems.map(
    (problem) => `${problem.severity}: ${problem.message}`,
  );
}

describe('parseProxyConfig()', () => {
  it('reads an entry of either kind, with references', () => {
    const openai = entryFor(ORIGIN, {
      api_key: 'os.environ/GW_KEY',
      timeout: '2.5',
      extra_headers: { 'X-Fix': 'os.environ/FIX' },
    });
    const vendor = {
      model_name: 'v',
      proxyvendor_params: {
        model: 'proxyvendor_proxy/a/b',
        api_base: 'https://gw.example/base/',
        api_key: 'k',
        input_cost_per_token: 2.5e-7,
        output_cost_per_token: '0',
      },
    };
    const settings = { forward_client_headers_to_llm_api: true };
    const { config, problems } = readConfig(
      { model_list: [openai, vendor], general_settings: settings },
      { GW_KEY: 'g', FIX: 'f' },
    );
    expect(problems).toEqual([]);
    expect(config.models[0]).toMatchObject({
      kind: 'openai',
      upstreamModel: 'prov/up',
      apiKey: 'g',
      timeoutMs: 2_500,
      basePath: '/v1',
      price: null,
    });
    expect([...(config.models[0]?.extraHeaders ?? [])]).toEqual([['x-fix', 'f']]);
    expect(config.models[1]).toMatchObject({
      kind: 'vendor',
      upstreamModel: 'a/b',
      origin: 'https://gw.example',
      basePath: '/base/v1',
      price: { inputFemtoUsd: 250_000_000n, outputFemtoUsd: 0n },
    });
    expect(config).toMatchObject({
      forwardClientHeaders: true,
      masterKey: 'sk-master-000',
      headersKeptBack: HEADERS_KEPT_BACK_DEFAULT,
    });
  });

  it('names entry and variable of every unset reference, and nothing twice', () => {
    const { config, problems } = readConfig({
      model_list: [entryFor(ORIGIN, { api_key: 'os.environ/NOT_SET', api_base: 'os.environ/NOR_THIS' })],
    });
    expect(config.models).toEqual([]);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toEqual({
      severity: 'error',
      path: 'proxy_config.model_list[0].proxyvendor_params.api_base',
      message:
        'Cannot load model entry "coder" (proxy_config.model_list[0]): environment variable "NOR_THIS" is not set',
    });
    expect(problems[1]?.message).toContain('"NOT_SET"');
  });

  it('gives the corrected address for a base that breaks the rule of its prefix', () => {
    expect(problemsOf({ api_base: ORIGIN })[0]).toContain(`write "${ORIGIN}/v1"`);
    expect(problemsOf({ api_base: `${ORIGIN}/x/` })[0]).toContain(`write "${ORIGIN}/x/v1"`);
    expect(problemsOf({ model: 'proxyvendor_proxy/m', api_base: `${ORIGIN}/x/v1/` })[0]).toContain(
      `write "${ORIGIN}/x"`,
    );
    expect(problemsOf({ api_base: `${ORIGIN}/v1/` })).toEqual([]);
  });

  it.each<[object, RegExp]>([
    [{ model: 'gpt' }, /^error: .*must start with "openai\/" or "proxyvendor_proxy\/"/],
    [{ model: 'openai/' }, /^error: .*name a model/],
    [{ model: 7 }, /^error: .*model: it must be a text/],
    [{ api_base: 'ftp://x/v1' }, /^error: .*no http or https/],
    [{ api_base: 'http://u:secret@127.0.0.1/v1' }, /^error: (?!.*secret).*credential/],
    [{ api_base: `${ORIGIN}/v1?a=b` }, /^error: .*query/],
    [{ api_key: '' }, /^error: .*api_key/],
    [{ api_key: 'a b' }, /^error: .*no header can carry/],
    [{ api_base: 'http://gw.example/v1' }, /^warning: .*plain http/],
    [{ rpm: 5 }, /^warning: .*rpm: the proxy does not use/],
    [{ timeout: 0 }, /^error: .*timeout/],
    [{ timeout: 'soon' }, /^error: .*timeout/],
    [{ input_cost_per_token: '1' }, /^error: .*output_cost_per_token: both/],
    [{ input_cost_per_token: -1, output_cost_per_token: 0 }, /^error: .*input_cost_per_token/],
    [{ input_cost_per_token: '1e-16', output_cost_per_token: 0 }, /^error: .*15 decimals/],
    [{ extra_headers: [] }, /^error: .*extra_headers/],
    [{ extra_headers: { 'x a': 'v' } }, /^error: .*"x a"/],
    [{ extra_headers: { 'x-a': 'é' } }, /^error: .*"x-a"/],
    [{ extra_headers: { 'X-Proxyvendor-Session-Id': 'v' } }, /^warning: .*set by the proxy/],
  ])('reports %j', (params, expected) => {
    const found = problemsOf(params);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });

  it('warns of a wildcard and names Pattern A', () => {
    const wildcard = { ...entryFor(ORIGIN, { model: 'openai/*' }), model_name: '*' };
    const { problems, config } = readConfig({ model_list: [wildcard] });
    expect(problems.map((problem) => [problem.severity, problem.message.includes('Pattern A')])).toEqual([
      ['warning', true],
    ]);
    expect(config.models).toHaveLength(1);
  });

  it('reports what is no entry, no list, a repeated name, an unknown key and a wrong setting', () => {
    const severities = (raw: unknown): string[] =>
      readConfig(raw).problems.map((problem) => `${problem.severity} ${problem.path}`);
    expect(severities('x')).toEqual(['error proxy_config']);
    expect(severities({ model_list: {} })).toEqual(['error proxy_config.model_list']);
    expect(severities({ model_list: ['x', { model_name: 'a' }] })).toEqual([
      'error proxy_config.model_list[0].model_name',
      'error proxy_config.model_list[1].proxyvendor_params',
    ]);
    expect(severities({ model_list: [entryFor(ORIGIN), entryFor(ORIGIN)] })).toEqual([
      'error proxy_config.model_list[1]',
    ]);
    expect(severities({ other_settings: {} })).toEqual(['warning proxy_config.other_settings']);
    expect(
      severities({
        general_settings: { forward_client_headers_to_llm_api: 'maybe', headers_kept_back: 'x' },
      }),
    ).toEqual([
      'error proxy_config.general_settings.forward_client_headers_to_llm_api',
      'error proxy_config.general_settings.headers_kept_back',
    ]);
    expect(severities(undefined)).toEqual([]);
  });

  it('uses the vendor word throughout and warns when there is no master key', () => {
    const entry = {
      model_name: 'a',
      litellm_params: { model: 'litellm_proxy/m', api_base: ORIGIN, api_key: 'k' },
    };
    const { config, problems } = parseProxyConfig({ model_list: [entry] }, {}, { vendor: 'litellm' });
    expect(config.models[0]?.kind).toBe('vendor');
    expect(config.masterKey).toBeNull();
    expect(problems.map((problem) => problem.message)).toEqual([
      'Cannot open the admin routes: environment variable "PROXY_MASTER_KEY" is not set',
    ]);
  });
});
