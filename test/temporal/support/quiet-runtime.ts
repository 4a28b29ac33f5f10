/**
 * Temporal's native runtime in a process of tests, with a log of what is worth reading.
 * Owns what is left out: a poll that found nothing yet ends its try with a failure by design, and others are meant.
 */
import { DefaultLogger, Runtime } from '@temporalio/worker';

/** Once in a process, before anything else of the worker package. */
export function installQuietRuntime(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR', ({ level, message, meta }) => {
      process.stderr.write(`temporal ${level}: ${message} ${String(meta?.['error'] ?? '')}\n`);
    }),
  });
}
