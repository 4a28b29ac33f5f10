/**
 * A request as Node reads it, where only a wish for a WebSocket ends HTTP.
 * Owns that one rule: whoever offers HTTP/2 (`Upgrade: h2c`), as many clients do by default, is answered in HTTP/1.1.
 */
import { IncomingMessage } from 'node:http';

export class HttpRequest extends IncomingMessage {
  private asksForUpgrade = false;

  /** Node sets it before the headers are there, and asks once they are. */
  get upgrade(): boolean {
    return this.asksForUpgrade && this.headers.upgrade?.trim().toLowerCase() === 'websocket';
  }

  set upgrade(asks: boolean | null) {
    this.asksForUpgrade = asks === true;
  }
}
