/**
 * What a worker says of itself: what it serves, what went wrong, that it ends.
 * Owns both forms, lines and records.
 */
import type { EngineFacts } from '../host-port.ts';
import { openRecords } from '../records.ts';
import { padded, printable } from '../terminal-text.ts';
import type { Shell } from '../shell.ts';

type Serving = Extract<EngineFacts, { readonly kind: 'temporal' }>;

/** What a worker says while it works. */
export interface WorkerView {
  notice(text: string): void;
  /** `healthUrl` null: there is no health server. */
  serving(facts: Serving, healthUrl: string | null): void;
}

const NAME_WIDTH = 9;

/** For people on standard error, or as lines of JSON. */
export function workerView({ stdout, stderr }: Pick<Shell, 'stdout' | 'stderr'>, json: boolean): WorkerView {
  return json
    ? jsonView(stdout, stderr)
    : {
        notice: (text) => void stderr.write(`${printable(text)}\n`),
        serving(facts, healthUrl) {
          for (const [name, value] of rowsOf(facts, healthUrl)) {
            stdout.write(`${padded(name, NAME_WIDTH, 'left')}  ${printable(value)}\n`);
          }
          stderr.write('Ctrl-C ends it\n');
        },
      };
}

function jsonView(stdout: Shell['stdout'], stderr: Shell['stderr']): WorkerView {
  const records = openRecords(stdout);
  return {
    notice(text) {
      records.write({ type: 'notice', text });
      stderr.write(`${printable(text)}\n`);
    },
    serving: ({ address, namespace, worker }, healthUrl) =>
      records.write({
        type: 'worker',
        address,
        namespace,
        queues: worker?.queues ?? [],
        slots: worker?.slots ?? {},
        build_id: worker?.buildId ?? null,
        deployment: worker?.deployment ?? null,
        metrics: worker?.metricsUrl ?? null,
        health: healthUrl,
      }),
  };
}

function rowsOf(
  { address, namespace, worker }: Serving,
  healthUrl: string | null,
): readonly (readonly [string, string])[] {
  const slots = Object.entries(worker?.slots ?? {}).map(([name, count]) => `${name} ${count}`);
  return [
    ['address', address],
    ['namespace', namespace],
    ['queues', (worker?.queues ?? []).join(', ')],
    ['slots', slots.join(', ')],
    ['build', buildOf(worker)],
    ['metrics', worker?.metricsUrl ?? 'none; ask for them with engine.metrics'],
    ['health', healthUrl ?? 'none; ask for it with --health-port'],
  ];
}

function buildOf(worker: Serving['worker']): string {
  if (worker === null) return '';
  const { buildId, deployment } = worker;
  return deployment === null ? buildId : `${buildId} of ${deployment}`;
}
