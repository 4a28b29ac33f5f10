/**
 * What the storm over a cluster came to, for people or as one line of JSON.
 * Owns the text; on a finding it has all that is needed to play it again and to look into it.
 */
import { clusterChaos, type ClusterChaosOptions, type ClusterChaosResult } from './cluster.ts';

/** Lives that are led at once, by so many hosts together. */
const CLIENTS = 8;

/** Whether everything held. */
export async function tellClusterChaos(
  options: Pick<ClusterChaosOptions, 'seed' | 'faults' | 'minutes' | 'conversations' | 'items'>,
  isJson: boolean,
): Promise<boolean> {
  const startedAt = Date.now();
  const tell = (line: string): void => {
    const seconds = ((Date.now() - startedAt) / 1_000).toFixed(0).padStart(4);
    process.stderr.write(`${seconds} s  ${line}\n`);
  };
  const result = await clusterChaos({ ...options, clients: CLIENTS, pace: 1, isolation: 'auto', tell });
  process.stdout.write(isJson ? `${JSON.stringify({ type: 'chaos', ...result })}\n` : textOf(result));
  return result.findings.length === 0;
}

export function textOf({ seed, findings, plan, logs, notApart, counts }: ClusterChaosResult): string {
  const width = Math.max(...Object.keys(counts).map((name) => name.length));
  const lines = Object.entries(counts).map(([name, count]) => `${name.padEnd(width)}  ${count}`);
  const head = `chaos over a cluster: seed ${seed}, ${plan.length} faults`;
  const apart = notApart === null ? [] : [`machines were not set apart: ${notApart}`];
  if (findings.length === 0) return [head, ...apart, ...lines, 'all invariants hold', ''].join('\n');
  return [
    ...[head, ...apart, ...lines],
    ...findings.map((finding) => `broken: ${finding}`),
    'what came to harm, in order:',
    ...plan.map((line) => `  ${line}`),
    `the log of each program, and all that is left: ${logs}`,
    ...[`${findings.length} findings; play it again with --seed ${seed}`, ''],
  ].join('\n');
}
