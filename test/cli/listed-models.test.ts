/** Which models of `parley.yaml` have a price, as `validate`, `plan` and `run` take it (D30). */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { listedModels } from '../../host/job/listed-models.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell } from './fake-shell.ts';

function hasPrice(params: object, env: Record<string, string> = {}, names: readonly string[] = ['coder']) {
  const folder = tempDir();
  const own = { api_base: 'http://127.0.0.1:1/v1', api_key: 'k' };
  const model_list = names.map((model_name) => ({ model_name, proxyvendor_params: { ...own, ...params } }));
  writeFileSync(path.join(folder, 'parley.yaml'), JSON.stringify({ proxy_config: { model_list } }));
  const shell = fakeShell({ cwd: folder, env });
  return listedModels(shell, undefined).hasPrice;
}

describe('the price of a model', () => {
  it.each([
    ['is written', { model: 'openai/prov/up', input_cost_per_token: 0, output_cost_per_token: 0 }, true],
    ["is the gateway's to say", { model: 'openai/prov/up', cost_from_gateway: true }, true],
    ['is on the public list', { model: 'openai/prov/gpt-4o-2024-08-06' }, true],
    ['is nowhere', { model: 'openai/prov/up' }, false],
    [
      'is nowhere although the gateway was denied',
      { model: 'openai/prov/up', cost_from_gateway: false },
      false,
    ],
    ['hangs on a variable that is not set', { model: 'os.environ/PARLEY_MODEL' }, null],
  ])('%s', (_, params, expected) => {
    expect(hasPrice(params)('coder')).toBe(expected);
  });

  it('is that of the model which a variable names', () => {
    const params = { model: 'os.environ/PARLEY_MODEL' };
    expect(hasPrice(params, { PARLEY_MODEL: 'openai/gpt-4o' })('coder')).toBe(true);
    expect(hasPrice(params, { PARLEY_MODEL: 'openai/mine' })('coder')).toBe(false);
  });

  it('is found through a wildcard, and unknown for a model that is not listed', () => {
    expect(hasPrice({ model: 'openai/*' }, {}, ['*'])('openai/gpt-4o')).toBe(true);
    expect(hasPrice({ model: 'openai/*' }, {}, ['*'])('openai/mine')).toBe(false);
    expect(hasPrice({ model: 'openai/mine' })('other')).toBeNull();
  });
});
