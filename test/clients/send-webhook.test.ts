/** Messages to webhooks, received by a real server: headers, signature, and which refusals may pass. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWebhookSender } from '../../clients/send-webhook.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function receiver(status: number, headers: Record<string, string> = {}) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
      response.writeHead(status, headers).end('x'.repeat(100_000));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

const message = (url: string, change: { key?: string } = {}) => ({
  url,
  id: 'msg-1',
  at: 1_700_000_000_999,
  body: '{"type":"run.ended"}',
  key: null,
  signal: new AbortController().signal,
  ...change,
});
const { send } = createWebhookSender();

describe('a message to a webhook', () => {
  it('arrives whole, with its id and the second of the try, and no signature without a key', async () => {
    const { received, url } = await receiver(204);
    await send(message(url));
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      body: '{"type":"run.ended"}',
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'msg-1',
        'webhook-timestamp': '1700000000',
      },
    });
    expect(received[0]?.headers['webhook-signature']).toBeUndefined();
  });

  it.each([
    ['text', 'pass word', Buffer.from('pass word')],
    [
      'base64 behind its prefix',
      `whsec_${Buffer.from([1, 2, 3]).toString('base64')}`,
      Buffer.from([1, 2, 3]),
    ],
  ])('is signed with a key that is %s', async (_, key, bytes) => {
    const { received, url } = await receiver(200);
    await send(message(url, { key }));
    const signature = createHmac('sha256', bytes)
      .update('msg-1.1700000000.{"type":"run.ended"}')
      .digest('base64');
    expect(received[0]?.headers['webhook-signature']).toBe(`v1,${signature}`);
  });

  it.each([408, 425, 429, 500, 503])('may be taken later when the receiver answers %i', async (status) => {
    const { url } = await receiver(status);
    await expect(send(message(url))).rejects.toMatchObject({ code: 'notify_failed' });
  });

  it.each([400, 401, 404, 410])('is refused for good with %i', async (status) => {
    const { url } = await receiver(status);
    await expect(send(message(url))).rejects.toMatchObject({
      code: 'notify_refused',
      message: `Cannot notify: the receiver answered ${status}`,
    });
  });

  it('is not carried on to where a receiver points', async () => {
    const other = await receiver(200);
    const { url } = await receiver(307, { location: other.url });
    await expect(send(message(url))).rejects.toMatchObject({ code: 'notify_refused' });
    expect(other.received).toEqual([]);
  });

  it('says nothing of the address when nobody answers', async () => {
    const { url } = await receiver(200);
    const gone = new URL(url);
    gone.port = '1';
    await expect(send(message(gone.href))).rejects.toMatchObject({
      code: 'notify_failed',
      message: 'Cannot notify: the receiver does not answer (ECONNREFUSED)',
    });
  });

  it.each([
    'http://example.org/',
    'ftp://example.org/',
    'https://ann:pass@example.org/',
    'file:///etc/passwd',
  ])('is not sent to %s', async (url) => {
    await expect(send(message(url))).rejects.toMatchObject({ code: 'notify_refused' });
  });
});
