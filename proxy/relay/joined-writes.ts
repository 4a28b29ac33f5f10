/**
 * Short writes of a plain connection that go out together, as one.
 * Owns that alone. Head and body of a message are two chunks, and Node's way of writing several at once takes many times
 * as long as joining a few KiB and writing one text.
 */
import { Socket } from 'node:net';

/** Beyond it the copy costs more than it saves. */
const JOINED_BYTES_MAX = 8 * 1024;

interface Chunk {
  readonly chunk: unknown;
  readonly encoding: BufferEncoding;
}

/** Only plain TCP and Unix sockets: TLS writes records of its own. */
export function joinShortWrites(socket: Socket): void {
  const { _writev: writeAll } = socket;
  if (Object.getPrototypeOf(socket) !== Socket.prototype || typeof writeAll !== 'function') return;
  socket._writev = function joinedWritev(chunks, done) {
    const text = joinedText(chunks);
    if (text === null) writeAll.call(this, chunks, done);
    else this._write(text, 'latin1', done);
  };
}

/** Each byte as the character of its number; null when it would be long. */
function joinedText(chunks: readonly Chunk[]): string | null {
  let text = '';
  for (const { chunk, encoding } of chunks) {
    if (typeof chunk === 'string') {
      if (encoding !== 'latin1') return null;
      text += chunk;
    } else if (Buffer.isBuffer(chunk) && chunk.length <= JOINED_BYTES_MAX) text += chunk.toString('latin1');
    else return null;
    if (text.length > JOINED_BYTES_MAX) return null;
  }
  return text;
}
