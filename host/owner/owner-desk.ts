/**
 * What the owner of a data directory does for the other processes of it.
 * Owns the translation from their words to the owner's host; must not add a rule.
 */
import type { OwnerDesk, OwnerTask } from '../../api/control-server.ts';
import type { RunId } from '../../core/ids.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Host } from '../host-port.ts';

export function ownerDesk(
  host: Host,
  { requests, resultsDir }: { readonly requests: Notifier; readonly resultsDir: string },
): OwnerDesk {
  return {
    facts: { pid: process.pid, engine: host.engine.kind, resultsDir },
    requests,
    startRun: (id, plan, secrets) => host.startRun(id, plan, secrets),
    amendRun: (id, event, amended) => host.tellRun(id, event, amended),
    localApi: () => requireLocalApi(host),
    work: (id, task, request) => work(host, { id, task, request }),
  };
}

/** Every host but that of a service elsewhere has one. */
export async function requireLocalApi({ localApi }: Host): Promise<string> {
  if (localApi === undefined) throw new Error('Cannot serve the application API here: this host has none');
  return await localApi();
}

interface Task {
  readonly id: RunId;
  readonly task: OwnerTask;
  readonly request: object;
}

function work(host: Host, { id, task, request }: Task): Promise<unknown> {
  switch (task) {
    case 'collect':
      return host.collect(id);
    case 'report':
      return host.report(id);
    case 'reconcile':
      return host.reconcile(id, request);
  }
}
