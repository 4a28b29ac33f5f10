/**
 * What the hostile form of chaos prints: a line for each attack, and what was measured beside.
 * Owns the table.
 */
import type { Figures, Neighbour } from './hostile-players.ts';
import type { Attack } from './inside/orders.ts';

export interface HostileOptions {
  readonly seed: number;
  readonly minutes: number;
  /** So many attacks in place of a time; null: by time. */
  readonly faults: number | null;
  /** The hostile one included. */
  readonly sandboxes: number;
  /** Only these; for who looks for one fault. */
  readonly only: string | null;
}

export interface Row extends Figures {
  readonly attack: Attack;
  readonly did: string;
  readonly lines: number;
}

export interface Seen {
  readonly neighbours: readonly Neighbour[];
  readonly quietMiB: number;
}

interface Reported extends Seen {
  readonly options: HostileOptions;
  readonly rows: readonly Row[];
}

export function report({ options, rows, quietMiB, neighbours }: Reported): void {
  const { seed, sandboxes, faults, minutes } = options;
  const length = faults === null ? `${minutes} minutes` : `${faults} attacks`;
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  say(`hostile chaos: ${length}, 1 against ${sandboxes - 1}, seed ${seed}`);
  const width = Math.max(6, ...rows.map(({ attack }) => attack.length));
  say(`${'attack'.padEnd(width)}  MiB  files  lines  slowest ms  what it got`);
  for (const { attack, memoryMiB, descriptors, lines, slowestMs, did } of rows) {
    const numbers = [
      memoryMiB.toFixed().padStart(4),
      String(descriptors).padStart(5),
      String(lines).padStart(5),
    ];
    say(`${attack.padEnd(width)} ${numbers.join('  ')}  ${slowestMs.toFixed().padStart(10)}  ${did}`);
  }
  const most = Math.max(0, ...rows.map(({ memoryMiB }) => memoryMiB));
  say(`memory of the service: ${quietMiB.toFixed()} MiB when quiet, ${most.toFixed()} at most`);
  const messages = neighbours.reduce((sum, { accepted }) => sum + accepted.length, 0);
  const slowest = Math.max(0, ...neighbours.map(({ slowestMs }) => slowestMs));
  say(
    `${neighbours.length} neighbours worked: ${messages} messages, the slowest answer after ${slowest.toFixed()} ms`,
  );
}
