/**
 * What the packages of Temporal have to say, as notices of ours: once per process, and nothing of it on standard output.
 * Owns what is worth a notice; must not write anywhere itself.
 */
import { ApplicationFailure, CancelledFailure, type MetricMeter } from '@temporalio/common';
import { DefaultLogger, Runtime, type LogEntry } from '@temporalio/worker';
import type { Telemetry } from '../../telemetry/metrics-endpoint.ts';

export interface RuntimeOptions {
  readonly onNotice: (text: string) => void;
  /** Metrics and what else a deployment wants of the runtime; logs stay as they are here. */
  readonly telemetry?: Telemetry;
}

/** There is one runtime in a process; what it says goes to the host that was opened last. */
const listener: { tell: ((text: string) => void) | null } = { tell: null };

/** To be called before the first connection. A repeat changes only the listener. Returns the meter of this process. */
export function installRuntime({ onNotice, telemetry }: RuntimeOptions): MetricMeter {
  const isInstalled = listener.tell !== null;
  listener.tell = onNotice;
  if (isInstalled) return Runtime.instance().metricMeter;
  const runtime = Runtime.install({
    logger: new DefaultLogger('WARN', (entry) => {
      const text = noticeOf(entry);
      if (text !== null) listener.tell?.(text);
    }),
    telemetryOptions: {
      ...telemetry,
      // Forwarded, because by default the native part writes to standard output.
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
    },
    // Ctrl-C drains a run: the host decides when workers end.
    shutdownSignals: [],
  });
  return runtime.metricMeter;
}

/** Our queues are apart on purpose: workflows on one, each class of activities on its own. */
const EXPECTED: ReadonlySet<string> = new Set([
  'No workflows registered, not polling for workflow tasks',
  'No activities registered, not polling for activity tasks',
]);

/** A busy machine: the server gives such a task out again by itself, and the metrics of the worker show it. */
const SLOW_TASK = /^\[TMPRL1104\]|^Task not found when completing/;

/** Null for what is expected: a try that failed comes back by itself, and its command says when it is given up. */
export function noticeOf({ message, meta }: Pick<LogEntry, 'message' | 'meta'>): string | null {
  const error: unknown = meta?.['error'];
  if (EXPECTED.has(message) || SLOW_TASK.test(message)) return null;
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return null;
  const reason = error instanceof Error ? `: ${error.message}` : '';
  return `Temporal: ${message}${reason}`.replaceAll(/\s+/g, ' ');
}
