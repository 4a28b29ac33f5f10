/**
 * What can listen at an address instead of a healthy Temporal server: silence, another protocol, a refusal.
 * Owns the listeners, which end with the running test; must not know what the client makes of them.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import { onTestFinished } from 'vitest';

/** Accepts, and never says anything. */
export function listenSilently(): Promise<string> {
  return listen(net.createServer((socket) => socket.on('error', () => undefined)));
}

/** Ordinary HTTP. */
export function listenHttp(): Promise<string> {
  return listen(http.createServer((_request, response) => response.end('hello')));
}

/** Answers every call with a status of gRPC. */
export function listenGrpc(status: number): Promise<string> {
  return listen(http2.createServer().on('stream', answer(status)));
}

/** Says at once that it is there, and takes `busyMs` to answer anything else with a status of gRPC. */
export function listenBusily(status: number, busyMs: number): Promise<string> {
  const server = http2.createServer().on('stream', (stream, headers) => {
    if (!String(headers[':path']).endsWith('/GetSystemInfo'))
      return void setTimeout(answer(status), busyMs, stream);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    // A message without a field: no flag, no length.
    stream.end(Buffer.alloc(5));
  });
  return listen(server);
}

/** The same as `listenGrpc` under TLS, with a certificate that no other program trusts. */
export async function listenGrpcTls(
  status: number,
): Promise<{ readonly address: string; readonly certificate: Buffer }> {
  const { certificate, key } = selfSigned();
  const server = http2.createSecureServer({ cert: certificate, key }).on('stream', answer(status));
  const address = await listen(server.on('sessionError', () => undefined));
  return { address: address.replace('127.0.0.1', 'localhost'), certificate: Buffer.from(certificate) };
}

function answer(status: number): (stream: http2.ServerHttp2Stream) => void {
  return (stream) => {
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(status) },
      { endStream: true },
    );
  };
}

/** Resolves with `HOST:PORT`; clients that are connected at the end are cut off. */
function listen(server: net.Server): Promise<string> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => sockets.add(socket));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(`127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`);
    });
  });
}

/** A certificate for `localhost`, signed by its own key; Node makes keys but no certificates. */
function selfSigned(): { readonly certificate: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const ed25519 = sequence(Buffer.from('06032b6570', 'hex'));
  const name = sequence(der(0x31, sequence(Buffer.from('0603550403', 'hex'), der(0x0c, 'localhost'))));
  const validity = sequence(der(0x17, '200101000000Z'), der(0x17, '491231235959Z'));
  const otherNames = der(0x04, sequence(der(0x82, 'localhost')));
  const extensions = der(0xa3, sequence(sequence(Buffer.from('0603551d11', 'hex'), otherNames)));
  const body = sequence(
    der(0xa0, Buffer.from('020102', 'hex')),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ed25519,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign(null, body, privateKey)]));
  const base64 = sequence(body, ed25519, signature).toString('base64');
  const lines = base64.match(/.{1,64}/g)?.join('\n') ?? '';
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

/** Tag, length, value. */
function der(tag: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value as string);
  const size = bytes.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), bytes]);
}
