/**
 * Runs a recipe: a gateway that shows what it sees, `parley proxy` with the recipe's file before it, and its calls.
 * Plain JavaScript without a dependency, and everything it does a user could type; docs/recipes.md says when to use
 * which. Prints one JSON line for each call that reached the gateway. Must not show a key.
 *
 *   node main.js team-keys | profile-headers | static-headers | spend-metadata | team-keys-and-profiles
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

const HERE = import.meta.dirname;
const PARLEY = path.resolve(HERE, '../../bin/parley.js');
const USAGE = 2;

/** The calls of each recipe: the model that the user picks, and the profile whose headers the agent sends. */
const RECIPES = {
  'team-keys': [{ model: 'coder-red' }, { model: 'coder-blue' }],
  'profile-headers': [
    { model: 'coder', profile: 'ada' },
    { model: 'coder', profile: 'bob' },
  ],
  'static-headers': [{ model: 'coder' }],
  'spend-metadata': [{ model: 'coder', profile: 'ada-metadata' }],
  'team-keys-and-profiles': [
    { model: 'coder-red', profile: 'ada' },
    { model: 'coder-blue', profile: 'bob' },
  ],
};

/** Made anew each time: names of keys can be shown, keys cannot. */
const KEYS = Object.fromEntries(
  [
    'PARLEY_GATEWAY_KEY',
    'PARLEY_GATEWAY_KEY_RED',
    'PARLEY_GATEWAY_KEY_BLUE',
    'PARLEY_GATEWAY_TENANT_TOKEN',
  ].map((name) => [name, `sk-${randomBytes(12).toString('hex')}`]),
);

function nameOfKey(text) {
  return Object.entries(KEYS).reduce((shown, [name, key]) => shown.replaceAll(key, `<${name}>`), text);
}

/** Answers every call, and says which headers it came with: those that tell somebody apart. */
async function startGateway() {
  const server = createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const { model, user = null } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const told = Object.entries(req.headers).filter(
      ([name]) => name === 'authorization' || name.startsWith('x-'),
    );
    const headers = Object.fromEntries(told.map(([name, value]) => [name, nameOfKey(String(value))]));
    process.stdout.write(`${JSON.stringify({ path: req.url, model, user, headers })}\n`);
    const message = { role: 'assistant', content: 'Done.' };
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
    res.setHeader('content-type', 'application/json');
    res.end(
      JSON.stringify({
        id: 'chatcmpl-1',
        model,
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function startProxy(recipe, folder, env) {
  const config = path.join(HERE, `${recipe}.yaml`);
  const args = [PARLEY, 'proxy', '--config', config, '--port', '0'];
  const proxy = spawn(process.execPath, args, { env, cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await Promise.race([
    once(createInterface({ input: proxy.stdout }), 'line'),
    once(proxy, 'exit').then(([code]) => Promise.reject(new Error(`the proxy ended with exit code ${code}`))),
  ]);
  return { proxy, url: line.replace('listening on ', '') };
}

/** As the agent does: the profile's headers, the user's id in the body, and an SDK's own headers. */
async function call(url, masterKey, { model, profile }) {
  const file = profile === undefined ? null : path.join(HERE, 'profiles', `${profile}.json`);
  const { llm } = file === null ? { llm: {} } : JSON.parse(readFileSync(file, 'utf8'));
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...llm.extra_headers,
      authorization: `Bearer ${masterKey}`,
      'content-type': 'application/json',
      'x-stainless-lang': 'js',
    },
    body: JSON.stringify({ model, user: 'user-17', messages: [{ role: 'user', content: 'Hello.' }] }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the proxy answered ${response.status}: ${text}`);
}

async function run(recipe) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-recipe-'));
  const gateway = await startGateway();
  const origin = `http://127.0.0.1:${gateway.address().port}`;
  const masterKey = `sk-${randomBytes(12).toString('hex')}`;
  const env = {
    ...process.env,
    ...KEYS,
    PROXY_MASTER_KEY: masterKey,
    PARLEY_GATEWAY_URL: `${origin}/v1`,
    PARLEY_GATEWAY_ROOT: origin,
    PARLEY_DATA_DIR: folder,
  };
  let started = null;
  try {
    started = await startProxy(recipe, folder, env);
    for (const one of RECIPES[recipe]) await call(started.url, masterKey, one);
  } finally {
    if (started !== null) {
      const ended = once(started.proxy, 'exit');
      started.proxy.kill('SIGTERM');
      await ended;
    }
    gateway.closeAllConnections();
    gateway.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const [recipe = ''] = process.argv.slice(2);
if (RECIPES[recipe] === undefined) {
  process.stderr.write(`usage: node main.js ${Object.keys(RECIPES).join(' | ')}\n`);
  process.exitCode = USAGE;
} else {
  await run(recipe);
}
