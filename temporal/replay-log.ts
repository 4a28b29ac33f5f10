/**
 * The log of Temporal's native runtime while histories are replayed.
 * Owns that it is silent: what a replay finds is its result, and a log would only repeat it.
 */
import { DefaultLogger, Runtime } from '@temporalio/worker';

/** Once in a process, before anything else of the worker package. */
export function quietReplays(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    telemetryOptions: { logging: { filter: 'off' } },
  });
}
