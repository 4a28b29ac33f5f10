/** The codec server as a command: which clients get an answer, what others get, and how it starts and ends. */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import net from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { knownSealKey } from '../../host/engines/temporal-codec.ts';
import { runCli } from '../../cli/program.ts';
import { loadSealKey } from '../../store/access/seal-key.ts';
import { fakeShell, until, type FakeShell } from '../cli/fake-shell.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const KEY = randomBytes(32).toString('base64');
const KEYS = { PARLEY_TEMPORAL_CODEC_KEYS: `a:${KEY}` };
const UI = 'http://127.0.0.1:8233';
const PAYLOADS = { payloads: [{ metadata: { encoding: b64('json/plain') }, data: b64('"hidden"') }] };

function b64(text: string): string {
  return Buffer.from(text).toString('base64');
}

interface Started {
  readonly shell: FakeShell;
  readonly url: string;
  /** Sends the signal; resolves with the exit code. */
  stop(): Promise<number>;
}

async function start(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const shell = fakeShell({ cwd: tempDir(), env: { ...KEYS, ...env } });
  const ended = runCli(['codec-server', '--port', '0', ...args], shell);
  await until(() => shell.stdout.text !== '' || shell.stderr.text.startsWith('parley: '));
  const stop = (): Promise<number> => {
    shell.interrupt('SIGTERM');
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  const [, url] = /^listening on (http:\S+)\n$/.exec(shell.stdout.text) ?? [];
  if (url === undefined) throw new Error(`it did not start: ${shell.stderr.text}`);
  return { shell, url, stop };
}

function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

async function refusal(response: Response): Promise<string> {
  const body = (await response.json()) as { readonly detail: string; readonly code: string };
  expect(Object.keys(body)).toEqual(['detail', 'code']);
  expect(body.detail).not.toMatch(/\n\s+at |\.ts/);
  return `${response.status} ${body.code}`;
}

describe('parley codec-server', () => {
  it('encodes, decodes, and lets pass what is not encrypted', async () => {
    const { url } = await start();
    const sealed = await (await post(`${url}/encode`, PAYLOADS)).text();
    expect(sealed).not.toContain(b64('"hidden"'));
    expect(JSON.parse(sealed)).toMatchObject({
      payloads: [{ metadata: { encoding: b64('binary/encrypted'), 'encryption-key-id': b64('a') } }],
    });
    expect(await (await post(`${url}/decode`, sealed)).json()).toEqual(PAYLOADS);
    expect(await (await post(`${url}/decode`, PAYLOADS)).json()).toEqual(PAYLOADS);
    expect(await (await post(`${url}/decode`, { payloads: [{}] })).json()).toEqual({
      payloads: [{ metadata: {}, data: '' }],
    });
  });

  it('answers the web UI of the dev server and programs, and no other page', async () => {
    const { url } = await start();
    const asked = await fetch(`${url}/decode`, { method: 'OPTIONS', headers: { origin: UI } });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(UI);
    expect(asked.headers.get('access-control-allow-headers')).toBe('authorization,content-type,x-namespace');
    const answered = await post(`${url}/decode`, PAYLOADS, { origin: 'http://localhost:8233' });
    expect(answered.headers.get('access-control-allow-origin')).toBe('http://localhost:8233');
    expect(await answered.json()).toEqual(PAYLOADS);
    for (const origin of ['https://evil.example', 'null', `${UI}.evil.example`]) {
      const other = await post(`${url}/decode`, PAYLOADS, { origin });
      expect(other.headers.get('access-control-allow-origin')).toBeNull();
      expect(await refusal(other)).toBe('403 forbidden');
    }
  });

  it('answers the pages that are named instead', async () => {
    const pages = ['https://temporal.example.com', 'https://other.example.com:8443'];
    const { url } = await start(pages.flatMap((page) => ['--allow-origin', page]));
    for (const origin of pages) {
      expect((await post(`${url}/decode`, PAYLOADS, { origin })).status).toBe(200);
    }
    expect(await refusal(await post(`${url}/decode`, PAYLOADS, { origin: UI }))).toBe('403 forbidden');
  });

  it('asks for the token when there is one, and tells a page so', async () => {
    const { url } = await start([], { PARLEY_CODEC_SERVER_TOKEN: 'tok' });
    for (const authorization of ['', 'tok', 'Bearer to', 'Bearer tokk']) {
      const refused = await post(`${url}/decode`, PAYLOADS, { origin: UI, authorization });
      expect(refused.headers.get('access-control-allow-origin')).toBe(UI);
      expect(await refusal(refused)).toBe('401 unauthorized');
    }
    expect((await post(`${url}/decode`, PAYLOADS, { authorization: 'Bearer tok' })).status).toBe(200);
    const asked = await fetch(`${url}/decode`, { method: 'OPTIONS', headers: { origin: UI } });
    expect(asked.status).toBe(204);
  });

  it('refuses what is malformed, too large, changed, or sealed by a key it has not', async () => {
    const { url } = await start();
    const sealed = (keyId: string, data: string) => ({
      payloads: [
        {
          metadata: {
            encoding: b64('binary/encrypted'),
            'encryption-algorithm': b64('aes-256-gcm'),
            'encryption-key-id': b64(keyId),
          },
          data,
        },
      ],
    });
    const refused = async (body: unknown) => refusal(await post(`${url}/decode`, body));
    expect(await refused('{')).toBe('422 invalid_request');
    expect(await refused({ payloads: [{ data: '%%' }] })).toBe('422 invalid_request');
    expect(await refused({ payloads: 'x' })).toBe('422 invalid_request');
    expect(await refused({ payloads: [{ data: 'A'.repeat(9 * 1024 * 1024) }] })).toBe('422 invalid_request');
    expect(await refused(sealed('a', 'AAAA'))).toBe('500 seal_broken');
    expect(await refused(sealed('gone', 'AAAA'))).toBe('422 codec_key_missing');
    expect(await refusal(await fetch(`${url}/`))).toBe('404 not_found');
  });

  it('ends with 0 at a signal, and listens no more', async () => {
    const { url, stop, shell } = await start();
    expect(await stop()).toBe(0);
    await expect(post(`${url}/decode`, PAYLOADS)).rejects.toThrow();
    expect(shell.stderr.text).toBe('');
  });
});

describe('parley codec-server without keys', () => {
  it('says so, and opens what is compressed and nothing sealed', async () => {
    const { url, shell } = await start([], { PARLEY_TEMPORAL_CODEC_KEYS: '' });
    expect(shell.stderr.text).toBe(
      'no PARLEY_TEMPORAL_CODEC_KEYS and no seal key: it opens what is compressed, and nothing sealed\n',
    );
    const large = { metadata: { encoding: b64('json/plain') }, data: b64('large '.repeat(5_000)) };
    const encoded = await (await post(`${url}/encode`, { payloads: [large] })).text();
    expect(encoded.length).toBeLessThan(1_000);
    expect(await (await post(`${url}/decode`, encoded)).json()).toEqual({ payloads: [large] });
    const names = { encoding: 'binary/encrypted', 'encryption-key-id': 'a' };
    const metadata = Object.fromEntries(Object.entries(names).map(([name, text]) => [name, b64(text)]));
    const sealed = { payloads: [{ metadata, data: b64('x') }] };
    expect(await refusal(await post(`${url}/decode`, sealed))).toBe('422 codec_key_missing');
  });
});

describe('parley codec-server beside a deployment', () => {
  it('opens what the deployment seals with no key of its own, and what it seals with keys that came later', async () => {
    const sealKeyText = Buffer.alloc(32, 9).toString('base64');
    const env = { PARLEY_TEMPORAL_CODEC_KEYS: '', PARLEY_SEAL_KEY: sealKeyText };
    const { url } = await start([], env);
    const sealKey = loadSealKey({ env: sealKeyText, path: 'nowhere' });
    const payload = { metadata: { encoding: b64('json/plain') }, data: b64('"a prompt"') };
    const text = await (await post(`${url}/encode`, { payloads: [payload] })).text();
    expect(text).toContain(b64(`seal-${sealKey.id}`));
    expect(text).not.toContain(b64('"a prompt"'));
    const later = await start([], { ...KEYS, PARLEY_SEAL_KEY: sealKeyText });
    for (const one of [url, later.url])
      expect(await (await post(`${one}/decode`, text)).json()).toEqual({ payloads: [payload] });
    expect(await (await post(`${later.url}/encode`, { payloads: [payload] })).text()).not.toContain(
      b64(`seal-${sealKey.id}`),
    );
  });

  it('makes no seal key where there is none', async () => {
    const cwd = tempDir();
    expect(knownSealKey({}, cwd)).toBe(null);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('parley codec-server with a mistake', () => {
  const failed = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
    const shell = fakeShell({ cwd: tempDir(), env });
    const code = await runCli(['codec-server', ...args], shell);
    expect(shell.stdout.text).toBe('');
    expect(shell.stderr.text).not.toContain(KEY.slice(0, 20));
    return `${code} ${shell.stderr.text}`;
  };

  it('says which key cannot be read, and the remedy', async () => {
    expect(await failed([], { PARLEY_TEMPORAL_CODEC_KEYS: KEY })).toBe(
      '2 parley: Cannot read PARLEY_TEMPORAL_CODEC_KEYS: entry 1 has no colon\n' +
        '  = write id:base64, with ids of 1 to 32 letters, digits, ".", "_" and "-"\n',
    );
  });

  it('does not open every payload to a network', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1', '127.example.com']) {
      expect(await failed(['--host', host], KEYS)).toBe(
        `2 parley: Cannot listen on "${host}" without a token: others could read every payload\n` +
          '  = set PARLEY_CODEC_SERVER_TOKEN, or leave out --host\n',
      );
    }
  });

  it('refuses a port and an origin that are none, and a port that is taken', async () => {
    expect(await failed(['--port', '65536'], KEYS)).toContain('Give a number from 0 to 65535.');
    expect(await failed(['--port', 'x'], KEYS)).toContain('Give a number from 0 to 65535.');
    for (const origin of ['*', 'temporal.example.com', 'http://127.0.0.1:8233/', 'file:///x']) {
      expect(await failed(['--allow-origin', origin], KEYS)).toContain('Give scheme, host and port');
    }
    const taken = net.createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as net.AddressInfo;
    expect(await failed(['--port', `${port}`], KEYS)).toBe(
      `2 parley: Cannot listen on port ${port} of "127.0.0.1": EADDRINUSE\n  = choose another --port or --host\n`,
    );
  });
});
