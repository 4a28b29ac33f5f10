/** `parley proxy`: start, hot reload, signals and restart of the real process. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parley } from '../cli/parley-program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startProxyProcess, writeConfig } from './proxy-process.ts';
import { entryFor, GATEWAY_KEY, MASTER_KEY, send, STREAM_BODY } from './proxy-under-test.ts';
import { answerJson, CONTENT_FRAMES, DONE_FRAME, startStubGateway } from './stub-gateway.ts';

/** The machine may be busy with other tests while a process starts, and the command builds when a source is newer. */
const TIMEOUT_MS = 240_000;

function call(url: string, model: string): ReturnType<typeof send> {
  return send({ url, key: MASTER_KEY, body: `{"model":"${model}","messages":[]}` });
}

describe('parley proxy', () => {
  it(
    'takes a changed file without dropping a call, and keeps the earlier one when the file is faulty',
    async () => {
      const folder = tempDir();
      const [old, fresh] = [await startStubGateway(), await startStubGateway()];
      const file = writeConfig(folder, { origin: old.origin, names: ['coder'] });
      const proxy = await startProxyProcess(folder);
      const added = await send({
        ...{ url: proxy.url, path: '/model/new', key: MASTER_KEY },
        body: JSON.stringify({ ...entryFor(old.origin), model_name: 'added' }),
      });
      expect(added.status).toBe(200);

      let finish: () => void = () => undefined;
      old.answer = (res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(CONTENT_FRAMES[0]);
        finish = () => void res.end(`${CONTENT_FRAMES[3]}${DONE_FRAME}`);
      };
      const inFlight = send({ url: proxy.url, key: MASTER_KEY, body: STREAM_BODY });
      await old.arrival(1);
      writeConfig(folder, { origin: fresh.origin, names: ['coder', 'second'] });
      await proxy.said('The changed configuration is in use');
      for (const model of ['coder', 'second']) expect((await call(proxy.url, model)).status).toBe(200);
      expect([old.seen.length, fresh.seen.length]).toEqual([1, 2]);
      finish();
      expect((await inFlight).body).toBe(`${CONTENT_FRAMES[0]}${CONTENT_FRAMES[3]}${DONE_FRAME}`);
      old.answer = answerJson(200, '{}');
      expect((await call(proxy.url, 'added')).status).toBe(200);

      writeFileSync(file, '{"proxy_config": {"model_list": [{"model_name": "broken"}]}}');
      proxy.child.kill('SIGHUP');
      await proxy.said('the earlier one stays');
      expect((await call(proxy.url, 'second')).status).toBe(200);
      const { body } = await send({ url: proxy.url, path: '/metrics', method: 'GET', key: MASTER_KEY });
      expect(body).toContain('parley_proxy_config_reloads_total 1\n');
      expect(body).toMatch(/parley_proxy_config_reload_failures_total [12]\n/);

      writeConfig(folder, { origin: fresh.origin, names: ['coder', 'third'] });
      const elsewhere = { ...(JSON.parse(readFileSync(file, 'utf8')) as object), store: { path: 'other' } };
      writeFileSync(file, JSON.stringify(elsewhere));
      await proxy.said('"keys":"store.path"');
      expect((await call(proxy.url, 'third')).status).toBe(200);
      expect(await proxy.end('SIGTERM')).toBe(0);
      expect(proxy.logged.join('\n')).not.toContain(GATEWAY_KEY);
    },
    TIMEOUT_MS,
  );

  it(
    'keeps keys and rows over a restart, and loses added models',
    async () => {
      const folder = tempDir();
      const gateway = await startStubGateway();
      writeConfig(folder, { origin: gateway.origin, names: ['coder'] });
      const first = await startProxyProcess(folder);
      const made = await send({
        ...{ url: first.url, path: '/key/generate', key: MASTER_KEY, body: '{"key_alias":"k1"}' },
      });
      const { key } = JSON.parse(made.body) as { key: string };
      const entry = JSON.stringify({ ...entryFor(gateway.origin), model_name: 'added' });
      await send({ url: first.url, path: '/model/new', key: MASTER_KEY, body: entry });
      expect((await send({ url: first.url, key })).status).toBe(200);
      expect(await first.end('SIGINT')).toBe(0);
      const second = await startProxyProcess(folder);
      expect((await send({ url: second.url, key })).status).toBe(200);
      expect((await call(second.url, 'added')).status).toBe(404);
      expect((await second.rows()).map((row) => [row.keyName, row.state])).toEqual([
        ['k1', 'succeeded'],
        ['k1', 'succeeded'],
      ]);
      expect(await second.end('SIGTERM')).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    'refuses to start without a master key, or with a variable that is not set',
    async () => {
      const folder = tempDir();
      writeConfig(folder, { origin: 'http://127.0.0.1:1', names: ['coder'] });
      const args = ['proxy', '--config', path.join(folder, 'parley.yaml'), '--port', '0'];
      const bare = await parley(args, { cwd: folder });
      expect([bare.exitCode, bare.stdout]).toEqual([2, '']);
      expect(bare.stderr).toContain('PROXY_MASTER_KEY is not set');
      const unset = await startProxyProcess(folder, { TEST_GATEWAY_KEY: '' });
      expect(unset.url).toContain('environment variable "TEST_GATEWAY_KEY" is not set');
    },
    TIMEOUT_MS,
  );

  it(
    'owns its folder alone',
    async () => {
      const folder = tempDir();
      writeConfig(folder, { origin: 'http://127.0.0.1:1', names: ['coder'] });
      const first = await startProxyProcess(folder);
      const second = await startProxyProcess(folder);
      expect(second.url).toContain('it ended');
      expect(await first.end('SIGTERM')).toBe(0);
    },
    TIMEOUT_MS,
  );
});
