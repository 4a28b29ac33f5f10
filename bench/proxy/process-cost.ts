/**
 * What a process has cost so far, as the kernel counts it.
 * Owns the reading of /proc; must not start or end anything.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Resident memory. */
export function residentMib(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid ?? 0}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/** Time of the processor that all threads of the process have used. */
export function cpuSeconds(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN;
  const tasks = `/proc/${pid}/task`;
  const figures = readdirSync(tasks).map((task) => readFileSync(path.join(tasks, task, 'schedstat'), 'utf8'));
  return figures.reduce((sum, figure) => sum + Number(figure.split(' ')[0]), 0) / 1e9;
}
