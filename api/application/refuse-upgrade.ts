/**
 * No to a connection that wants to become a WebSocket, while it still speaks HTTP.
 * Owns the bytes of the answer.
 */
import type { Duplex } from 'node:stream';

export function refuseUpgrade(socket: Duplex, status: number, reason: string): void {
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
