/**
 * Connections to gateways as they are: with interim replies that no request expects, and with long headers.
 * Owns these two; what is sent and read on a connection is its caller's.
 */
import type { Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { REPLY_HEADER_BYTES_MAX, INTERIM_REPLY_BYTES_MAX } from './limits.ts';

/** Opens connections of which interim replies are taken out. */
export function gatewayConnector(options: buildConnector.BuildOptions = {}): buildConnector.connector {
  const connect = buildConnector(options);
  return (wanted, connected) =>
    connect(wanted, (...outcome) => {
      if (outcome[0] === null) skipInterimReplies(outcome[1]);
      connected(...outcome);
    });
}

let shared: Dispatcher | null = null;

/** For single requests; made on first use. */
export function gatewayDispatcher(): Dispatcher {
  shared ??= new Agent({ connect: gatewayConnector(), maxHeaderSize: REPLY_HEADER_BYTES_MAX });
  return shared;
}

const BEGINNING = /^HTTP\/1\.[01] 100(?: |\r\n)/;
const BEGINNING_LENGTH = 'HTTP/1.1 100\r\n'.length;
const PREFIX = 'HTTP/1.1 100';
const END = Buffer.from('\r\n\r\n');

/** Bytes are checked from each write on, which is a request, until a reply that is none of these begins. */
function skipInterimReplies(socket: Socket): void {
  const { read, write } = socket;
  let isAwaiting = true;
  let held: Buffer | null = null;
  socket.write = function writeAndAwait(this: Socket, ...given: unknown[]): boolean {
    isAwaiting = true;
    return (write as (...rest: unknown[]) => boolean).apply(this, given);
  } as Socket['write'];
  socket.read = function readReply(size?: number): unknown {
    for (;;) {
      const chunk = read.call(this, size) as Buffer | null;
      if (!isAwaiting || chunk === null) return chunk;
      const bytes: Buffer = held === null ? chunk : Buffer.concat([held, chunk]);
      const rest = behindInterim(bytes);
      held = rest === null ? bytes : null;
      if (rest === null || rest.length === 0) continue;
      isAwaiting = false;
      return rest;
    }
  };
}

/** What stands behind interim replies; null while one has not ended. */
function behindInterim(bytes: Buffer): Buffer | null {
  let rest = bytes;
  for (;;) {
    const head = rest.toString('latin1', 0, BEGINNING_LENGTH);
    if (head.length < BEGINNING_LENGTH && head !== '' && mayBecome(head)) return null;
    if (!BEGINNING.test(head)) return rest;
    const end = rest.indexOf(END);
    if (end < 0) return rest.length > INTERIM_REPLY_BYTES_MAX ? rest : null;
    rest = rest.subarray(end + END.length);
  }
}

function mayBecome(head: string): boolean {
  return PREFIX.startsWith(head.slice(0, PREFIX.length)) || BEGINNING.test(head);
}
