/**
 * The Agent Server of OpenHands as its own process in a sandbox, at a task of the first batch: started through our API,
 * with our proxy in front of the scripted gateway as its model.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { copyBatch, type BatchCopy } from '../e2e/batch-copy.ts';
import { openGateway, type BatchGateway } from '../e2e/batch-gateway.ts';
import { endProcess } from '../helpers/end-process.ts';
import { requirePeerPython } from '../helpers/python-peers.ts';
import { describeWith } from '../helpers/requires.ts';

const MS_MAX = 600_000;
const PROMPT = `Add an ES module entry to this package, so that \`import ms, { parse, format } from 'ms'\` works.`;
/** Where an agent stops. */
const AT_REST = new Set(['FINISHED', 'ERROR', 'STUCK', 'WAITING_FOR_CONFIRMATION']);

interface Served {
  readonly url: string;
  readonly key: string;
}
type Row = Readonly<Record<string, unknown>>;

async function serve(copy: BatchCopy, gateway: BatchGateway): Promise<Served> {
  const args = [path.join(copy.root, 'bin/parley.js'), 'serve', '--port', '0', '--json'];
  const child = spawn(process.execPath, args, {
    cwd: copy.example,
    env: {
      ...copy.env,
      ...gateway.env,
      PARLEY_AGENT: 'openhands',
      PARLEY_AGENT_PYTHON: requirePeerPython('openhands'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => endProcess(child, 'SIGTERM'));
  for await (const line of createInterface({ input: child.stdout })) {
    const record = JSON.parse(line) as { readonly type: string } & Served;
    if (record.type === 'serving') return record;
  }
  throw new Error('it ended before it served');
}

function caller({ url, key }: Served) {
  return async (route: string, body?: unknown): Promise<unknown> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${url}/api/v1${route}`, { headers, ...post });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${route} answered ${answer.status}: ${text}`);
    return JSON.parse(text) as unknown;
  };
}

async function until(ask: () => Promise<unknown>, fits: (row: Row) => boolean): Promise<Row> {
  for (;;) {
    const [row] = [await ask()].flat() as Row[];
    if (row !== undefined && fits(row)) return row;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

describeWith('openhands', 'the Agent Server of OpenHands under our API', () => {
  it(
    'does a task of the first batch, with its calls through our proxy',
    async () => {
      const copy = copyBatch('none');
      onTestFinished(() => copy.close());
      const gateway = await openGateway(copy);
      onTestFinished(() => gateway.stop());
      const served = await serve(copy, gateway);
      const call = caller(served);
      const task = (await call('/app-conversations', {
        initial_message: { content: [{ type: 'text', text: PROMPT }] },
        selected_repository: 'npm/ms',
        selected_branch: 'main',
        llm_model: 'coder',
      })) as { readonly id: string };
      const started = await until(
        () => call(`/app-conversations/start-tasks?ids=${task.id}`),
        ({ status }) => status === 'READY' || status === 'ERROR',
      );
      expect(started).toMatchObject({ status: 'READY' });
      const id = String(started['app_conversation_id']);
      const ended = await until(
        () => call(`/app-conversations?ids=${id}`),
        (row) => AT_REST.has(String(row['execution_status'])),
      );
      expect(ended).toMatchObject({ execution_status: 'FINISHED', sandbox_status: 'RUNNING' });

      const changes = await call(`/app-conversations/${id}/git/changes?path=.`);
      expect(changes).toEqual([
        { status: 'ADDED', path: 'index.mjs' },
        { status: 'UPDATED', path: 'package.json' },
      ]);
      const agent = String(ended['conversation_url']).replace(/\/api\/conversations\/.*$/, '');
      const checked = await fetch(`${agent}/api/bash/execute_bash_command`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-session-api-key': String(ended['session_api_key']),
        },
        body: JSON.stringify({ command: `cd */ms && node --test test/esm.test.mjs` }),
      });
      expect(await checked.json()).toMatchObject({ exit_code: 0 });

      const events = (await call(`/conversation/${id}/events/search`)) as { readonly items: readonly Row[] };
      const messages = events.items.filter(
        ({ kind, source }) => kind === 'MessageEvent' && source === 'user',
      );
      expect(messages).toHaveLength(1);
      expect(events.items.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['ActionEvent']));
      expect(JSON.stringify(events.items)).toContain('FinishAction');

      await call(`/app-conversations/${id}/send-message`, {
        content: [{ type: 'text', text: 'Thank you, that is all.' }],
      });
      await until(
        () => call(`/conversation/${id}/events/search?sort_order=TIMESTAMP_DESC`),
        (page) => JSON.stringify(page).includes('Thank you, that is all.'),
      );
    },
    MS_MAX,
  );
});
