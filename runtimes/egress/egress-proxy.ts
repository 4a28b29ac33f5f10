/**
 * The way out of sandboxes: an HTTP proxy on a unix socket that lets through what the allow-list names.
 * Owns the decision by name, the one resolution, the decision by address, and the copying of bytes. It opens nothing
 * encrypted, and connects to the very address it has judged, so that a second answer of a name server changes nothing.
 */
import { rmSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ConnectionShares } from '../../core/shares/connection-shares.ts';
import { isPrivateAddress, isPublicAddress } from './address-rules.ts';
import { allowsHost, parseHostAndPort, type HostAndPort, type HostRule } from './host-rules.ts';

/** Time to reach a host: past it a build fails with a reason instead of hanging. */
const CONNECT_TIMEOUT_MS = 15_000;
/** A tunnel without a byte for this long is closed: forgotten ones would add up. */
const IDLE_TIMEOUT_MS = 10 * 60_000;
/** Open connections of all sandboxes together; each that leads somewhere takes a second descriptor. */
export const CONNECTIONS_MAX = 2_048;
/** Of all that are open to one host: the owner of a connection is unknown, so a flood is bounded by where it goes. */
const CONNECTIONS_PER_HOST_MAX = 512;
/** Meant for the next hop only (RFC 9110), and what only this proxy reads. */
const HOP_HEADERS = [
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
];

interface EgressOptions {
  /** Absolute; its directory is bound into sandboxes and holds nothing else. */
  readonly socketPath: string;
  readonly rules: readonly HostRule[];
  /** Addresses of a name, the best first. Rejects or gives none when there is none. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  /** Receives every refusal: host, port, which sandbox as far as it says so, and why. */
  readonly onRefused: (text: string) => void;
  /** Lower than the default where the process may open few descriptors. */
  readonly connectionsMax?: number;
  /** By default the Internet only; another answer is for networks that an operator allows on purpose. */
  readonly mayReach?: (address: string) => boolean;
}

/** The one way out of sandboxes whose network is closed. */
export interface EgressProxy {
  listen(): Promise<void>;
  close(): Promise<void>;
}

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, reason: string) {
    super(reason);
    this.status = status;
  }
}

/** Listens nowhere before `listen`. */
export function createEgressProxy(options: EgressOptions): EgressProxy {
  const open = new Set<Duplex>();
  const keep = (stream: Duplex): void => {
    open.add(stream);
    stream.on('close', () => open.delete(stream));
    stream.on('error', () => stream.destroy());
  };
  const { connectionsMax = CONNECTIONS_MAX } = options;
  const bounds = { max: connectionsMax, perOwnerMax: Math.min(CONNECTIONS_PER_HOST_MAX, connectionsMax / 4) };
  const shares = new ConnectionShares<Duplex>(bounds, (strike) =>
    options.onRefused(`Cannot keep a connection to the way out: too many of ${strike}`),
  );
  const around: Around = { options, keep, shares };
  const server = createServer((request, response) => void forward(around, { request, response }));
  server.maxConnections = connectionsMax;
  server.on('connection', (socket) => {
    keep(socket);
    shares.opened(socket);
  });
  server.on('connect', (request, socket, head) => void tunnel(around, { request, socket, head }));
  return {
    listen: () =>
      new Promise((resolve, reject) => {
        rmSync(options.socketPath, { force: true });
        server.once('error', reject);
        server.listen(options.socketPath, () => resolve());
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const stream of open) stream.destroy();
      }),
  };
}

interface Around {
  readonly options: EgressOptions;
  readonly shares: ConnectionShares<Duplex>;
  keep(stream: Duplex): void;
}

interface Tunnel {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

async function tunnel(around: Around, { request, socket, head }: Tunnel): Promise<void> {
  const { options, keep } = around;
  try {
    const target = parseHostAndPort(request.url ?? '');
    if (target === null) throw new Refusal(400, 'the target is not HOST:PORT');
    const outer = await reach(around, target, socket);
    keep(outer);
    if (socket.destroyed) outer.destroy();
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) outer.write(head);
    socket.on('close', () => outer.destroy());
    outer.on('close', () => socket.destroy());
    outer.setTimeout(IDLE_TIMEOUT_MS, () => outer.destroy());
    socket.pipe(outer);
    outer.pipe(socket);
  } catch (error) {
    const { status, reason } = refusalOf(options, { error, request });
    const body = `${reason}\n`;
    const headers = `Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`;
    socket.end(`HTTP/1.1 ${status} Refused\r\n${headers}\r\n\r\n${body}`);
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Plain HTTP comes with the whole address in its first line. */
async function forward(around: Around, { request, response }: Exchange): Promise<void> {
  const { options, keep } = around;
  try {
    const url = URL.parse(request.url ?? '');
    if (url?.protocol !== 'http:') throw new Refusal(400, 'this is a proxy: the address must be absolute');
    const target = parseHostAndPort(`${url.hostname}:${url.port || '80'}`);
    if (target === null) throw new Refusal(400, 'the address names no host');
    const outer = await reach(around, target, request.socket);
    keep(outer);
    outer.setTimeout(IDLE_TIMEOUT_MS, () => outer.destroy());
    const headers = Object.entries(request.headers).filter(([name]) => !HOP_HEADERS.includes(name));
    const upstream = httpRequest(
      {
        createConnection: () => outer,
        method: request.method,
        path: `${url.pathname}${url.search}`,
        headers: { ...Object.fromEntries(headers), host: url.host, connection: 'close' },
      },
      (answer) => passBack(answer, response),
    );
    upstream.on('error', () => response.destroy());
    response.on('close', () => outer.destroy());
    request.pipe(upstream);
  } catch (error) {
    const { status, reason } = refusalOf(options, { error, request });
    response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${reason}\n`);
  }
}

/** What a host answers may be no HTTP that we can say again (a status of 42): that harms only its own client. */
function passBack(answer: IncomingMessage, response: ServerResponse): void {
  try {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
  } catch {
    answer.destroy();
    response.writeHead(502, { 'content-type': 'text/plain', connection: 'close' });
    response.end('Cannot pass the answer on: its status or a header is none\n');
    return;
  }
  answer.on('error', () => response.destroy());
  answer.pipe(response);
}

/** Both name the rule, because an agent that reads them inside a sandbox cannot look it up. */
const NOT_ALLOWED = 'it is not on the allow-list "runtime.egress.allow" of the deployment';
const NOT_PUBLIC =
  'its address is not on the Internet, and no entry "private HOST" of "runtime.egress.allow" opens it';

/** @throws Refusal not allowed by name or by address, one too many, or no answer there */
async function reach({ options, shares }: Around, target: HostAndPort, inner: Duplex): Promise<Socket> {
  if (!allowsHost(options.rules, target)) throw new Refusal(403, NOT_ALLOWED);
  const addresses = isIP(target.host) === 0 ? await resolved(options, target.host) : [target.host];
  const mayReach = options.mayReach ?? isPublicAddress;
  const isOwn = allowsHost(
    options.rules.filter(({ mayBePrivate }) => mayBePrivate === true),
    target,
  );
  // A name with one address inside and one outside is a trick: none of them is used.
  const isOpen = addresses.every(mayReach) || (isOwn && addresses.every(isPrivateAddress));
  if (!isOpen) throw new Refusal(403, NOT_PUBLIC);
  if (!shares.belongsTo(inner, target.host))
    throw new Refusal(503, 'too many connections lead there already');
  for (const address of addresses) {
    const socket = await tryConnect(address, target.port);
    if (socket !== null) return socket;
  }
  throw new Refusal(502, 'nobody answers there');
}

async function resolved(options: EgressOptions, host: string): Promise<readonly string[]> {
  const addresses = await options.resolve(host).catch(() => []);
  if (addresses.length === 0) throw new Refusal(502, 'its name has no address');
  return addresses;
}

function tryConnect(host: string, port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const fail = (): void => {
      socket.destroy();
      resolve(null);
    };
    socket.on('error', fail);
    socket.once('timeout', fail);
    socket.once('connect', () => {
      socket.off('timeout', fail);
      socket.setTimeout(0);
      resolve(socket);
    });
  });
}

interface Failure {
  readonly error: unknown;
  readonly request: IncomingMessage;
}

function refusalOf(options: EgressOptions, { error, request }: Failure): { status: number; reason: string } {
  const status = error instanceof Refusal ? error.status : 502;
  const asked = `Cannot reach "${request.url ?? ''}"`;
  const why = error instanceof Refusal ? error.message : 'it failed';
  const sandbox = sandboxOf(request);
  options.onRefused(`${asked}${sandbox === null ? '' : ` from sandbox "${sandbox}"`}: ${why}`);
  return { status, reason: `${asked}: ${why}` };
}

/** A sandbox has its number as the user of its proxy, and may say another's: good for a notice, and nothing else. */
function sandboxOf({ headers }: IncomingMessage): string | null {
  const [, credentials = ''] = /^basic +([\w+/=-]{1,256})$/i.exec(headers['proxy-authorization'] ?? '') ?? [];
  return /^([\da-f-]{32,36}):/.exec(Buffer.from(credentials, 'base64').toString('latin1'))?.[1] ?? null;
}
