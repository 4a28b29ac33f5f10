/**
 * A proxy as a process of its own, for the test that kills it.
 * Owns the smallest wiring: its store never answers, so that all it knows is in the spool.
 */
import type { SpendLog } from '../../ports/spend-log.ts';
import { parseProxyConfig } from '../../proxy/config/config-reading.ts';
import { createProxy } from '../../proxy/proxy.ts';

/** The only argument, as JSON. */
export interface KillableSetup {
  readonly spoolDir: string;
  /** One element of `model_list`. */
  readonly entry: object;
  readonly key: string;
}

const setup = JSON.parse(process.argv[2] ?? '') as KillableSetup;
const away = (): Promise<never> => Promise.reject(new Error('Cannot reach the store: it is away'));
const spend: SpendLog = {
  ...{ write: away, missing: away, noteLoss: away, losses: away },
  ...{ search: away, joinable: away, interruptOpen: away },
};
const { config } = parseProxyConfig({ model_list: [setup.entry] }, {}, { vendor: 'proxyvendor' });
let calls = 0;
const proxy = createProxy({
  config,
  keys: {
    find: (key) =>
      Promise.resolve(
        key === setup.key ? { name: 'agent', sessionId: null, userId: null, models: null } : null,
      ),
  },
  spend,
  vendor: 'proxyvendor',
  clock: { now: () => 7 },
  newId: () => `killed-${(calls += 1)}`,
  spoolDir: setup.spoolDir,
  log: { info: () => undefined, warn: () => undefined, error: () => undefined },
});
void proxy.listen({ host: '127.0.0.1', port: 0 }).then((address) => {
  if ('port' in address) process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});
