/**
 * Programs of a node that run in a pod beside its containers: its first process, and its network.
 * Owns their texts. Programs of one pod see each other, as ours ask for: so the first one is the node's and not ours.
 */
import { quoted } from '../../../../core/text/shell-word.ts';

export const AGENT_PORT = 8_000;
export const NETWORK_DIR = '/run/pod-network';
/** What nodes call it; a shell stands in, which reaps every dead child as well. */
export const FIRST_PROCESS = '/pause';

/** Leads a socket that the node sees to the loopback of the pod. */
export const NETWORK_PROGRAM = `
const net = require('net');
net.createServer({ allowHalfOpen: true }, (outer) => {
  const inner = net.connect({ host: '127.0.0.1', port: ${AGENT_PORT}, allowHalfOpen: true });
  for (const [a, b] of [[outer, inner], [inner, outer]]) {
    a.on('error', () => b.destroy());
    a.on('close', () => b.destroy());
    a.pipe(b);
  }
}).listen('${NETWORK_DIR}/pod.sock');
`;

/**
 * What the first process does, read from its standard input, so that it is called nothing else. It ends with the
 * container, and as it; a signal to end goes on to it.
 */
export function firstScript(command: readonly string[]): string {
  const words = command.map(quoted).join(' ');
  return `env -i /usr/bin/env node ${NETWORK_DIR}/network.cjs < /dev/null &
${words} < /dev/null &
container=$!
trap 'kill -TERM $container' TERM
while :; do wait $container; code=$?; kill -0 $container 2>/dev/null || exit $code; done
`;
}
