/**
 * What a sandbox's pod reaches of a cluster when it tries, by a program of its own.
 * Owns the attempts; must not know what is allowed.
 */
import type { RealCluster } from '../../scripts/real-cluster/real-cluster.ts';

/** One attempt: HOST:PORT over TCP, or the name of a host that is resolved. */
export type Target = string;

const WAIT_MS = 2_000;

/** Of the targets, those that answer from within that pod. A refusal is none: that is what a policy says, too. */
export async function reachedFrom(
  { kubectl }: RealCluster,
  {
    namespace,
    pod,
    targets,
  }: { readonly namespace: string; readonly pod: string; readonly targets: readonly Target[] },
): Promise<readonly Target[]> {
  const said = await kubectl(['-n', namespace, 'exec', pod, '--', 'node', '-e', PROGRAM, ...targets]);
  return JSON.parse(said) as readonly Target[];
}

const PROGRAM = `
const net = require('net'), dns = require('dns');
const late = new Promise((done) => setTimeout(done, ${WAIT_MS}, false));
const tried = (target) => new Promise((done) => {
  const [, host, port] = /^(.*):(\\d+)$/.exec(target) || [];
  if (host === undefined) return dns.lookup(target, (error) => done(error === null));
  const socket = net.connect(Number(port), host);
  socket.on('connect', () => done(true)).on('error', () => done(false));
});
const targets = process.argv.slice(1);
Promise.all(targets.map((target) => Promise.race([tried(target), late]))).then((all) => {
  console.log(JSON.stringify(targets.filter((_, at) => all[at])));
  process.exit(0);
});
`;
