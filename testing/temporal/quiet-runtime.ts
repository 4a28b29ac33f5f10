/**
 * Temporal's native runtime in a process that skips time.
 * Owns what it says: errors alone, because this server lacks what a worker would like, and tries end early by design.
 */
import { DefaultLogger, Runtime } from '@temporalio/worker';

/** Once in a process, before anything else of the worker package. */
export function installQuietRuntime(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
  });
}
