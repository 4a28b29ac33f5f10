/**
 * An agent of the Agent Client Protocol for tests: a prompt is a script of JSON, and it does what the script says. It
 * writes lines by itself, so that it can also say what no library would send: late, twice, malformed or never.
 * Keeps what it heard in the file ACP_HEARD, and its sessions in the folder ACP_SESSIONS where it can load them.
 * Plain JavaScript, because the server starts it as a program of its own.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import path from 'node:path';

const CAN = new Set((process.env.ACP_CAN ?? '').split(','));
const FOLDER = process.env.ACP_SESSIONS ?? '';
const RUN_MS_MAX = 60_000;
const waiting = new Map();
let lastId = 0;
let sessionId = '';
let prompted = null;
let cancelled = () => undefined;
let terminalId = '';

const heard = (record) => {
  if (process.env.ACP_HEARD) appendFileSync(process.env.ACP_HEARD, `${JSON.stringify(record)}\n`);
};
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (told) => write({ method: 'session/update', params: { sessionId, update: told } });

function ask(method, params) {
  lastId += 1;
  const id = `agent-${lastId}`;
  write({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'ever', name: 'Always', kind: 'allow_always' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

async function step(one) {
  if ('update' in one) return update(one.update);
  if ('raw' in one) return void process.stdout.write(`${one.raw}\n`);
  if ('send' in one) return write(one.send);
  if ('text' in one)
    return update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: one.text } });
  if ('ask' in one) {
    const params = { sessionId, toolCall: one.ask, options: one.options ?? OPTIONS };
    const answer = ask('session/request_permission', params).then((given) =>
      heard({ permission: given.result ?? given.error }),
    );
    if (one.wait !== false) await answer;
    return undefined;
  }
  if ('call' in one) {
    const params = { sessionId, ...one.call.params, ...(one.call.terminal ? { terminalId } : {}) };
    const answer = await ask(one.call.method, params);
    terminalId = answer.result?.terminalId ?? terminalId;
    return heard({ [one.call.method]: answer.result ?? { error: answer.error } });
  }
  if ('run' in one) {
    // By itself, not through its client: what a program of an agent reaches is what this reaches.
    const ran = spawnSync('/bin/sh', ['-c', one.run], {
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
      timeout: RUN_MS_MAX,
      env: { ...process.env, AGENT_PARENT: String(process.ppid) },
    });
    return heard({ ran: ran.stdout ?? '' });
  }
  if ('variables' in one) {
    return heard({
      variables: Object.fromEntries(one.variables.map((name) => [name, process.env[name] ?? null])),
    });
  }
  if ('untilFile' in one) {
    while (!existsSync(one.untilFile)) await new Promise((resolve) => setTimeout(resolve, 20));
    return undefined;
  }
  if ('pause' in one) return await new Promise((resolve) => setTimeout(resolve, one.pause));
  if ('untilCancelled' in one) return await new Promise((resolve) => (cancelled = resolve));
  if ('hang' in one) return await new Promise(() => undefined);
  if ('complain' in one) return void process.stderr.write(one.complain);
  if ('exit' in one) return process.exit(one.exit);
  if ('stop' in one) return write({ id: prompted, result: { stopReason: one.stop } });
  if ('refuse' in one) return write({ id: prompted, error: one.refuse });
  throw new Error(`no such step: ${JSON.stringify(one)}`);
}

/** The script is the newest block that is one; without one a prompt is answered by a word. */
function scriptOf(blocks) {
  for (const { text = '' } of [...blocks].reverse()) {
    const start = text.indexOf('[{');
    if (start >= 0) return JSON.parse(text.slice(start));
  }
  return [{ text: 'Done.' }, { stop: 'end_turn' }];
}

async function play(id, { prompt }) {
  prompted = id;
  heard({ prompt: prompt.map(({ text, type }) => text ?? type) });
  for (const one of scriptOf(prompt)) await step(one);
}

const ANSWERS = {
  initialize: () => ({
    protocolVersion: Number(process.env.ACP_PROTOCOL ?? 1),
    agentInfo: { name: 'scripted', version: process.env.ACP_VERSION ?? '1.0.0' },
    agentCapabilities: {
      loadSession: CAN.has('load'),
      mcpCapabilities: { http: CAN.has('http') },
      promptCapabilities: { image: CAN.has('image') },
      sessionCapabilities: CAN.has('resume') ? { resume: {} } : {},
    },
    authMethods: [],
  }),
  'session/new': () => {
    sessionId = `session-${process.pid}`;
    if (FOLDER !== '') {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(path.join(FOLDER, sessionId), '');
    }
    return { sessionId, ...choices() };
  },
  'session/load': ({ sessionId: wanted }) => {
    takeUp(wanted);
    // What was said before is said again, as the protocol wants it.
    update({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'before' } });
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'said before' } });
    update({ sessionUpdate: 'tool_call', toolCallId: 'old', title: 'old call', status: 'completed' });
    return choices();
  },
  'session/resume': ({ sessionId: wanted }) => {
    takeUp(wanted);
    return choices();
  },
  'session/set_config_option': () => ({ configOptions: [] }),
  'session/set_mode': () => ({}),
};

function takeUp(wanted) {
  if (!existsSync(path.join(FOLDER, wanted))) throw new Error(`no session ${wanted}`);
  sessionId = wanted;
}

function choices() {
  if (CAN.has('modes'))
    return {
      modes: {
        currentModeId: 'code',
        availableModes: [
          { id: 'code', name: 'Code' },
          { id: 'plan', name: 'Plan' },
        ],
      },
    };
  if (!CAN.has('choices')) return {};
  const select = (id, values) => ({
    ...{ id, name: id, category: id, type: 'select', currentValue: values[0] },
    options: values.map((value) => ({ value, name: value })),
  });
  return {
    configOptions: [
      select('model', ['vendor/other', 'vendor/test-model']),
      select('mode', ['build', 'plan']),
    ],
  };
}

function receive(message) {
  const { id, method, params } = message;
  if (method === undefined) {
    waiting.get(id)?.(message);
    waiting.delete(id);
    // Protocol errors have no id: what was malformed is told to whoever sent it.
    if (id === null) heard({ protocolError: message.error });
    return;
  }
  if (method !== 'session/prompt') heard({ [method]: params });
  if (method === 'session/cancel') {
    // The turn ends as the protocol wants it, unless the script has it otherwise.
    cancelled();
    if (!CAN.has('deaf')) write({ id: prompted, result: { stopReason: 'cancelled' } });
    return;
  }
  if (method === 'session/prompt') return void play(id, params);
  if (id === undefined) return;
  const refused = process.env.ACP_REFUSES === method;
  if (refused) return write({ id, error: { code: -32000, message: 'Authentication required' } });
  try {
    const answer = ANSWERS[method];
    if (answer === undefined) write({ id, error: { code: -32601, message: 'no such method' } });
    else write({ id, result: answer(params) });
  } catch (error) {
    write({ id, error: { code: -32603, message: error.message } });
  }
}

if (process.env.ACP_COMPLAINS) {
  process.stderr.write(process.env.ACP_COMPLAINS);
  process.exit(3);
}
for await (const line of createInterface({ input: process.stdin })) receive(JSON.parse(line));
