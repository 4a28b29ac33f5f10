/** What is written together over a plain connection arrives byte for byte, whether it was joined or not. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinShortWrites } from '../../proxy/relay/joined-writes.ts';

interface Written {
  readonly chunk: string | Uint8Array;
  readonly encoding: BufferEncoding;
}

const length = fc.constantFrom(0, 1, 100, 5_000, 9_000, 100_000);
const written: fc.Arbitrary<Written> = fc.oneof(
  fc
    .tuple(fc.string({ unit: 'binary' }), length, fc.constantFrom<BufferEncoding>('latin1', 'utf8'))
    .map(([text, size, encoding]) => ({ chunk: text.padEnd(size, 'aé'), encoding })),
  fc.tuple(fc.uint8Array(), length).map(([bytes, size]) => ({
    chunk: Buffer.concat([bytes, Buffer.alloc(size, 255)]),
    encoding: 'latin1' as const,
  })),
);

describe('joinShortWrites()', () => {
  const server = createServer((socket) => socket.pipe(socket));
  let client: Socket;
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(client, 'connect');
    joinShortWrites(client);
  });
  afterAll(() => {
    client.destroy();
    server.close();
  });

  it('changes no byte, and tells each writer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(written, { minLength: 1, maxLength: 4 }), async (all) => {
        const sent = Buffer.concat(all.map(({ chunk, encoding }) => bytesOf(chunk, encoding)));
        const received = receive(client, sent.length);
        const told = all.map(
          ({ chunk, encoding }) =>
            new Promise<Error | null | undefined>((resolve) => {
              client.cork();
              client.write(chunk, encoding, resolve);
            }),
        );
        for (const _ of all) client.uncork();
        expect((await received).equals(sent)).toBe(true);
        expect((await Promise.all(told)).every((error) => error === null || error === undefined)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

function bytesOf(chunk: string | Uint8Array, encoding: BufferEncoding): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
}

/** The next so many bytes. */
function receive(socket: Socket, count: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      const all = Buffer.concat(chunks);
      if (all.length < count) return;
      socket.off('data', take);
      resolve(all);
    };
    if (count === 0) return resolve(Buffer.alloc(0));
    socket.on('data', take);
  });
}
