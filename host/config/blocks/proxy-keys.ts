/**
 * The keys of `proxy_config` as editors complete them: what each takes, its default and an example.
 * Owns the words; the rules are those of the proxy, which alone refuses a value (D25).
 */

type Json = Readonly<Record<string, unknown>>;

/** `os.environ/NAME` may stand for any value. */
const REFERENCE = { type: 'string', pattern: '^os\\.environ/[A-Za-z_][A-Za-z0-9_]*$' } as const;

const text = (description: string, more: Json): Json => ({ description, type: 'string', ...more });
const orReference = (description: string, value: Json, more: Json): Json => ({
  description,
  anyOf: [value, REFERENCE],
  ...more,
});

const price = (of: string, example: string): Json =>
  orReference(
    `Price of one ${of} in USD, as a decimal. Budgets and limits.usd count with it; without it counts what the gateway says.`,
    { type: ['string', 'number'] },
    { examples: [example] },
  );

const tokens = (of: string, example: number): Json =>
  orReference(
    `The most tokens ${of} that one call may have. An enforced budget holds so much for a call.`,
    { type: 'integer', minimum: 0 },
    { examples: [example] },
  );

const params: Json = {
  description:
    'Where calls of the name go, and what they cost. The key begins with the word of proxy.vendor.',
  type: 'object',
  required: ['model', 'api_base', 'api_key'],
  properties: {
    model: text(
      'Model at the gateway, with its kind before it. "openai/" is any compatible gateway, "<vendor>_proxy/" one of the same product.',
      {
        examples: ['openai/gpt-5-mini', 'os.environ/PARLEY_MODEL'],
      },
    ),
    api_base: text(
      'Address of the gateway. It ends in /v1 for "openai/", and does not for "<vendor>_proxy/".',
      {
        examples: ['https://gateway.example.com/v1', 'os.environ/PARLEY_GATEWAY_URL'],
      },
    ),
    api_key: text('Key of the gateway, as os.environ/NAME. Agents never see it.', {
      examples: ['os.environ/PARLEY_GATEWAY_KEY'],
    }),
    input_cost_per_token: price('token of a prompt', '0.00000025'),
    output_cost_per_token: price('token of an answer', '0.000002'),
    cache_read_input_token_cost: price('token of a prompt that the gateway had kept', '0.000000025'),
    cache_creation_input_token_cost: price('token of a prompt that the gateway keeps', '0.0000003'),
    cache_creation_input_token_cost_above_1hr: price(
      'token of a prompt that the gateway keeps for an hour',
      '0.0000005',
    ),
    output_cost_per_reasoning_token: price('token of reasoning', '0.000002'),
    cost_from_gateway: {
      description: 'Says that the gateway names the cost of each call. Budgets then need no price here.',
      type: 'boolean',
      default: false,
      examples: [true],
    },
    max_input_tokens: tokens('of a prompt', 128_000),
    max_output_tokens: tokens('of an answer', 16_000),
    timeout: orReference(
      'Seconds until an answer begins, and between two pieces of it. A call that waits longer fails with 504.',
      { type: 'number', exclusiveMinimum: 0 },
      { default: 600, examples: [120] },
    ),
    weight: orReference(
      'Share of this entry among those of its name. An entry of 3 gets three times the calls of an entry of 1.',
      { type: 'number', exclusiveMinimum: 0 },
      { default: 1, examples: [3] },
    ),
    extra_headers: {
      description:
        'Headers on every call of the entry. Values that are secret are written as os.environ/NAME.',
      type: 'object',
      additionalProperties: { type: 'string' },
      default: {},
      examples: [{ 'x-team': 'platform' }],
    },
  },
};

const modelEntry: Json = {
  type: 'object',
  required: ['model_name'],
  properties: {
    model_name: text('Name that jobs use for the model. Entries of one name share its calls.', {
      examples: ['coder'],
    }),
    model_info: {
      description: 'Facts about the entry. Only its id is used, to tell entries of one name apart.',
      type: 'object',
      properties: {
        id: text('Id of the entry. Made of name, model and address where it is left out.', {
          examples: ['coder-eu'],
        }),
      },
      examples: [{ id: 'coder-eu' }],
    },
  },
  patternProperties: { '^[a-z][a-z0-9]*_params$': params },
};

/** What `proxy_config` holds, as JSON Schema; open, because the proxy names what it does not use itself. */
export const PROXY_CONFIG_SCHEMA: Json = {
  description: 'Models and settings of the built-in proxy. Agents reach models through it alone.',
  type: 'object',
  properties: {
    model_list: {
      description:
        'Models that jobs can name, and where each leads. A run looks before it starts whether they are there.',
      type: 'array',
      items: modelEntry,
      default: [],
      examples: [
        [
          {
            model_name: 'coder',
            proxyvendor_params: {
              model: 'openai/gpt-5-mini',
              api_base: 'os.environ/PARLEY_GATEWAY_URL',
              api_key: 'os.environ/PARLEY_GATEWAY_KEY',
            },
          },
        ],
      ],
    },
    general_settings: {
      description: 'Settings of every call. They are taken up without a restart.',
      type: 'object',
      properties: {
        forward_client_headers_to_llm_api: orReference(
          'Whether x-* and anthropic-* headers of agents reach the gateway. Session ids are forwarded only then.',
          { type: 'boolean' },
          { default: false, examples: [true] },
        ),
        headers_kept_back: {
          description: 'Headers that are not forwarded all the same. A "*" at the end stands for any rest.',
          type: 'array',
          items: { type: 'string' },
          default: ['x-forwarded-*', 'x-real-ip', 'x-http-method-override'],
          examples: [['x-internal-*']],
        },
        llm_provider: {
          description: 'Kind of provider behind the gateway. Headers of your own need "custom".',
          enum: ['custom', 'anthropic', 'openai', 'bedrock', 'azure', 'vertex'],
          default: 'custom',
          examples: ['custom'],
        },
        custom_llm_extra_headers: {
          description:
            'Headers on every call of every entry. Values that are secret are written as os.environ/NAME.',
          type: ['object', 'string'],
          default: {},
          examples: [{ 'x-team': 'platform' }],
        },
        spend_retention_days: orReference(
          'Days after which rows of spend are kept as daily totals only. Without it every row stays.',
          { type: 'integer', minimum: 1 },
          { examples: [90] },
        ),
        commit_before_dispatch: orReference(
          'Whether the spend row of a call is in the store before it is sent, so that it outlives its host. Without it a host that dies takes the rows of its last 100 ms along.',
          { type: 'boolean' },
          { default: false, examples: [true] },
        ),
      },
    },
    router_settings: {
      description: 'What follows a call that failed. Nothing does unless it is set.',
      type: 'object',
      properties: {
        num_retries: orReference(
          'Further tries of a call, each at the next entry of its name. A call that was refused for good is not tried again.',
          { type: 'integer', minimum: 0 },
          { default: 0, examples: [2] },
        ),
        fallbacks: {
          description:
            'Names to turn to when all tries of a name have failed. Each item is a name with a list of others.',
          type: 'array',
          items: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
          default: [],
          examples: [[{ coder: ['spare'] }]],
        },
      },
    },
  },
};

/** Names that may stand beside the last key of a path such as `model_list[0].proxyvendor_params`; below `proxy_config`. */
export function proxyKeysBeside(path: readonly (string | number)[], vendor: string): readonly string[] {
  let part: Json | null = PROXY_CONFIG_SCHEMA;
  for (const key of path.slice(0, -1)) part = part === null ? null : stepInto(part, key);
  const { properties = {}, patternProperties } = (part ?? {}) as {
    readonly properties?: object;
    readonly patternProperties?: object;
  };
  return [...Object.keys(properties), ...(patternProperties === undefined ? [] : [`${vendor}_params`])];
}

function stepInto(part: Json, key: string | number): Json | null {
  const { items, properties, patternProperties } = part as Readonly<Record<string, Json | undefined>>;
  if (typeof key === 'number') return items ?? null;
  const named =
    properties?.[key] ?? (key.endsWith('_params') ? Object.values(patternProperties ?? {})[0] : undefined);
  return (named as Json | undefined) ?? null;
}
