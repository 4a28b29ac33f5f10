/**
 * What the owner of a data directory does for the other processes of it.
 * Owns the translation from their words to the owner's host; must not add a rule.
 */
import type { OwnerDesk, OwnerTask } from '../../api/control-server.ts';
import type { RunId } from '../../core/ids.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Host } from '../host-port.ts';
import type { Owning } from './owner-link.ts';

export function ownerDesk(
  host: Host,
  { requests, resultsDir }: { readonly requests: Notifier; readonly resultsDir: string },
): OwnerDesk {
  const tasks: Readonly<Record<OwnerTask, (id: RunId, request: object) => Promise<unknown>>> = {
    collect: (id) => host.collect(id),
    report: (id) => host.report(id),
    reconcile: (id, request) => host.reconcile(id, request),
  };
  return {
    facts: { pid: process.pid, engine: host.engine.kind, resultsDir },
    requests,
    startRun: (id, plan, secrets) => host.startRun(id, plan, secrets),
    amendRun: (id, event, amended) => host.tellRun(id, event, amended),
    localApi: () => withLocalApi(host).localApi(),
    work: (id, task, request) => tasks[task](id, request),
  };
}

/** Every host but that of a service elsewhere serves the application API. */
export function withLocalApi(host: Host): Owning {
  const none = new Error('Cannot serve the application API here: this host has none');
  return { ...host, localApi: host.localApi ?? (() => Promise.reject(none)) };
}
