/** The published schema of `parley.yaml`: every hover and example, and that the file it completes is a good one. */
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { deploymentJsonSchema } from '../../host/config/schema/deployment-json-schema.ts';
import { proxyKeysBeside } from '../../host/config/blocks/proxy-keys.ts';
import { SETTINGS } from '../../host/config/settings.ts';
import { parseProxyConfig } from '../../proxy/config/config-reading.ts';

type Json = Readonly<Record<string, unknown>>;

interface Key {
  readonly path: string;
  readonly schema: Json;
}

const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});

function keysOf(schema: Json, at = ''): readonly Key[] {
  const named = { ...object(schema['properties']), ...object(schema['patternProperties']) };
  const below = Object.entries(named).flatMap(([key, value]) => {
    const path = at === '' ? key : `${at}.${key}`;
    return [{ path, schema: object(value) }, ...keysOf(object(value), path)];
  });
  const unnamed = [schema['items'], schema['additionalProperties']].filter((one) => one instanceof Object);
  return [...below, ...unnamed.flatMap((one) => keysOf(object(one), `${at}.*`))];
}

const KEYS = keysOf(deploymentJsonSchema());
const isBlock = ({ schema }: Key): boolean => keysOf(schema).length > 0;
const ajv = new Ajv({ strict: false });

describe('the schema of parley.yaml', () => {
  it('says two sentences of every key, and no number of a rule', () => {
    const words = KEYS.map(({ path, schema }) => ({ path, text: String(schema['description'] ?? '') }));
    const poor = words.filter(({ text }) => !/[^.]\. ["A-Z].*\.$/.test(text) || /\(D\d+\)/.test(text));
    expect(poor).toEqual([]);
  });

  it('has an example of every key that takes a value, and each example and default is one that it allows', () => {
    const single = KEYS.filter((key) => !isBlock(key));
    expect(single.filter(({ schema }) => schema['examples'] === undefined).map(({ path }) => path)).toEqual(
      [],
    );
    const wrong = KEYS.flatMap(({ path, schema }) => {
      const values = [...((schema['examples'] ?? []) as unknown[])];
      if ('default' in schema) values.push(schema['default']);
      return values.filter((value) => !ajv.validate(schema, value)).map((value) => ({ path, value }));
    });
    expect(wrong).toEqual([]);
  });

  it('has the default of every setting that has one', () => {
    for (const { path, fallback } of SETTINGS) {
      const key = KEYS.find((one) => one.path === path);
      expect(key?.schema['default'], path).toBe(fallback === '' ? undefined : fallback);
    }
  });

  it('completes a proxy_config with nothing but keys that the proxy uses', () => {
    const { properties } = deploymentJsonSchema() as { readonly properties: Json };
    const exampleBelow = (schema: Json): unknown => {
      const children = Object.entries(object(schema['properties']));
      if (children.length === 0) return (schema['examples'] as unknown[])[0];
      const pairs = children.map(([key, value]) => [key, exampleBelow(object(value))]);
      const [params] = Object.values(object(schema['patternProperties']));
      if (params !== undefined) pairs.push(['proxyvendor_params', exampleBelow(object(params))]);
      return Object.fromEntries(pairs) as unknown;
    };
    const block = object(exampleBelow(object(properties['proxy_config'])));
    const { items } = object(object(object(properties['proxy_config'])['properties'])['model_list']) as {
      items: Json;
    };
    const entry = exampleBelow(items);
    const env = {
      PARLEY_GATEWAY_KEY: 'k',
      PARLEY_GATEWAY_URL: 'https://g.example.com/v1',
      PARLEY_MODEL: 'openai/m',
      PROXY_MASTER_KEY: 'k',
    };
    const raw = {
      ...block,
      model_list: [entry, { ...object(entry), model_name: 'spare', model_info: { id: 'two' } }],
    };
    expect(parseProxyConfig(raw, env, { vendor: 'proxyvendor' }).problems).toEqual([]);
  });

  it('knows what may stand beside a key of proxy_config', () => {
    expect(proxyKeysBeside(['model_list', 0, 'x'], 'litellm')).toEqual([
      'model_name',
      'model_info',
      'litellm_params',
    ]);
    expect(proxyKeysBeside(['model_list', 0, 'litellm_params', 'x'], 'litellm')).toContain('api_base');
    expect(proxyKeysBeside(['nowhere', 'x'], 'litellm')).toEqual([]);
  });
});
