/**
 * A recipe of examples/recipes as a chain: the real agent, the proxy with the recipe's file, a gateway that records.
 * Owns the set-up; what the gateway must have seen is for the tests to say.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { Harness } from '../../agent/harness.ts';
import { startProxy, readConfig, AGENT_KEY, type ProxyUnderTest } from '../../proxy/proxy-under-test.ts';
import { startStubGateway, type SeenRequest, type StubGateway } from '../../proxy/stub-gateway.ts';

export const RECIPES = path.resolve(import.meta.dirname, '../../../examples/recipes');

/** What the variables of the recipes hold. */
export const KEYS = {
  PARLEY_GATEWAY_KEY: 'sk-recipe-one',
  PARLEY_GATEWAY_KEY_RED: 'sk-recipe-red',
  PARLEY_GATEWAY_KEY_BLUE: 'sk-recipe-blue',
  PARLEY_GATEWAY_TENANT_TOKEN: 'tenant-token-1',
} as const;

export interface RecipeChain {
  readonly proxy: ProxyUnderTest;
  readonly gateway: StubGateway;
  /** Lets a conversation of the agent run to its end; returns what the gateway saw of it. */
  converse(llm: Readonly<Record<string, unknown>>, changes?: object): Promise<readonly SeenRequest[]>;
}

export interface Profile {
  readonly preserve_existing_api_key: boolean;
  readonly llm: {
    readonly model: string;
    readonly base_url: string;
    readonly extra_headers: Readonly<Record<string, string>>;
  };
}

export function profileOf(name: string): Profile {
  return JSON.parse(readFileSync(path.join(RECIPES, 'profiles', `${name}.json`), 'utf8')) as Profile;
}

interface RecipeFile {
  readonly proxy_config: {
    readonly model_list: readonly unknown[];
    readonly general_settings?: Readonly<Record<string, unknown>>;
  };
}

/** The recipe's file with the variables filled in. It must have no problem that it could avoid. */
export function readRecipe(name: string, env: Readonly<Record<string, string>>): RecipeFile['proxy_config'] {
  const text = readFileSync(path.join(RECIPES, `${name}.yaml`), 'utf8');
  const { problems } = readConfig((parse(text) as RecipeFile).proxy_config, { ...env });
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const filled = text.replaceAll(/os\.environ\/([A-Z_]+)/g, (_, variable: string) => env[variable] ?? '');
  return (parse(filled) as RecipeFile).proxy_config;
}

export async function startRecipe(name: string): Promise<RecipeChain> {
  const gateway = await startStubGateway();
  const env = { ...KEYS, PARLEY_GATEWAY_URL: `${gateway.origin}/v1`, PARLEY_GATEWAY_ROOT: gateway.origin };
  const { model_list: models, general_settings: settings = {} } = readRecipe(name, env);
  const proxy = await startProxy({ origin: gateway.origin, models, settings });
  return {
    proxy,
    gateway,
    async converse(llm, changes = {}) {
      const agent = await Harness.start();
      const before = gateway.seen.length;
      // A tool call and then an answer: more than one call of the model.
      gateway.answer = (res) => {
        const isFirst = gateway.seen.length - before === 1;
        res.writeHead(200, { 'content-type': 'application/json' }).end(isFirst ? TOOL_REPLY : LAST_REPLY);
      };
      const own = { base_url: `${proxy.url}/v1`, api_key: AGENT_KEY, ...llm };
      await agent.run('planted-prompt: say hello', { user_id: 'user-17', ...changes }, own);
      await agent.reaches('finished');
      await agent.stop();
      return gateway.seen.slice(before);
    },
  };
}

const usage = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 };
const TOOL_REPLY = JSON.stringify({
  id: 'chatcmpl-tool',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call-1', type: 'function', function: { name: 'terminal', arguments: '{"command":"true"}' } },
        ],
      },
    },
  ],
  usage,
});
const LAST_REPLY = JSON.stringify({
  id: 'chatcmpl-last',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call-2', type: 'function', function: { name: 'finish', arguments: '{"message":"Done."}' } },
        ],
      },
    },
  ],
  usage,
});
