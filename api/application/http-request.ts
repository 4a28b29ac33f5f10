/**
 * A request as Node reads it, where only a wish that we can fulfil ends HTTP.
 * Owns the one exception: clients that offer HTTP/2 without TLS (`Upgrade: h2c`), as many do by default, are answered in
 * HTTP/1.1, as the standard says, instead of being taken for WebSockets.
 */
import { IncomingMessage } from 'node:http';

export class HttpRequest extends IncomingMessage {
  private asksForUpgrade = false;

  /** Node sets it before the headers are there, and asks once they are. */
  get upgrade(): boolean {
    if (!this.asksForUpgrade) return false;
    const { upgrade } = this.headers;
    return upgrade === undefined || upgrade.trim().toLowerCase() === 'websocket';
  }

  set upgrade(asks: boolean | null) {
    this.asksForUpgrade = asks === true;
  }
}
