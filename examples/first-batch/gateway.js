/**
 * Where the example's model calls go: a scripted gateway of its own, or the real one that the environment names.
 * Owns the variables that the deployment files read and which of these files counts; must not run the job.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

const HERE = import.meta.dirname;
const PARLEY = path.resolve(HERE, '../../bin/parley.js');
const LEDGER = '.parley/gateway-ledger.jsonl';
/** Names of models that say how they are reached; `openai/` is meant when there is none. */
const MODEL_PREFIXES = ['openai/', 'proxyvendor_proxy/'];

/** A problem the user can mend: the message says how. */
export class SettingError extends Error {}

/**
 * What the user set for a real gateway, in the spelling the deployment wants; null when no gateway is set.
 * @throws SettingError a setting is missing or is no http address
 */
export function realGateway(env) {
  const { PARLEY_GATEWAY_URL: url, PARLEY_GATEWAY_KEY: key, PARLEY_MODEL: model } = env;
  if (!url) return null;
  const missing = Object.entries({ PARLEY_GATEWAY_KEY: key, PARLEY_MODEL: model }).filter(
    ([, value]) => !value,
  );
  if (missing.length > 0) {
    const names = missing.map(([name]) => name).join(' and ');
    throw new SettingError(`Cannot use the gateway: set ${names} as well, or unset PARLEY_GATEWAY_URL`);
  }
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new SettingError('Cannot use the gateway: PARLEY_GATEWAY_URL is no http or https address');
  }
  const fullModel = MODEL_PREFIXES.some((prefix) => model.startsWith(prefix)) ? model : `openai/${model}`;
  const bare = url.replace(/\/+$/, '');
  const base = fullModel.startsWith('openai/') && !bare.endsWith('/v1') ? `${bare}/v1` : bare;
  return {
    config: 'real-gateway.yaml',
    job: env.PARLEY_GATEWAY_EXPORT ? 'job.yaml' : jobOfProxyRows(),
    env: {
      PARLEY_GATEWAY_URL: base,
      PARLEY_MODEL: fullModel,
    },
    stop: async () => {},
  };
}

/** A copy of the job that reconciles with the proxy's own rows, for gateways without an export. */
function jobOfProxyRows() {
  const folder = path.join(HERE, '.parley', 'proxy-rows');
  mkdirSync(folder, { recursive: true });
  cpSync(path.join(HERE, 'prompts'), path.join(folder, 'prompts'), { recursive: true });
  const job = readFileSync(path.join(HERE, 'job.yaml'), 'utf8').replace('rows: gateway', 'rows: proxy');
  writeFileSync(path.join(folder, 'job.yaml'), job);
  return path.relative(HERE, path.join(folder, 'job.yaml'));
}

/**
 * Starts the scripted gateway on a free port and waits until it listens.
 * Its ledger stays from start to start, so that a run that is resumed still finds its rows.
 */
export async function startScriptedGateway(env) {
  const key = env.PARLEY_GATEWAY_KEY || `sk-${randomBytes(18).toString('hex')}`;
  mkdirSync(path.join(HERE, '.parley'), { recursive: true });
  const args = [PARLEY, 'scripted-gateway', 'gateway.yaml', '--ledger', LEDGER];
  // A process group of its own: Ctrl-C is for the run, which needs the gateway until it has ended.
  const keeper = spawn(process.execPath, [path.join(HERE, 'gateway-keeper.js'), ...args], {
    cwd: HERE,
    detached: true,
    env: { ...env, PARLEY_GATEWAY_KEY: key },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => keeper.once('exit', resolve));
  const url = await listeningUrl(keeper);
  return {
    config: 'parley.yaml',
    job: 'job.yaml',
    env: {
      PARLEY_GATEWAY_URL: `${url}/v1`,
      PARLEY_GATEWAY_KEY: key,
      PARLEY_MODEL: 'openai/acme/coder-1',
      PARLEY_GATEWAY_EXPORT: `${url}/spend/export`,
    },
    stop: async () => {
      keeper.stdin.end();
      await ended;
    },
  };
}

/** Reads lines until the one that says where the gateway listens; it has said why when it ends before. */
async function listeningUrl(keeper) {
  for await (const line of createInterface({ input: keeper.stdout })) {
    if (line.startsWith('{"type":"listening"')) return JSON.parse(line).url;
  }
  throw new SettingError('Cannot start the scripted gateway: it ended before it listened');
}
