/**
 * Connections to gateways as they are: with replies that nobody asked for, and with long headers.
 * Owns these two; what is sent and read on a connection is its caller's.
 */
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { skipInterimReplies } from './interim-replies.ts';
import { REPLY_HEADER_BYTES_MAX } from './limits.ts';

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

/** For single questions; made on first use. */
export function gatewayDispatcher(): Dispatcher {
  shared ??= new Agent({ connect: gatewayConnector(), maxHeaderSize: REPLY_HEADER_BYTES_MAX });
  return shared;
}
