/**
 * A minute of `npm run chaos -- --cluster`: every kind of harm once, over three APIs, three workers on machines of their own
 * and two proxies. What is judged is that nothing was lost, doubled or left, whenever it struck (D26, D33, D34).
 */
import { expect, it } from 'vitest';
import { clusterChaos } from '../../bench/chaos/cluster.ts';
import { textOf } from '../../bench/chaos/cluster-report.ts';
import { FAULT_KINDS, faultPlan, faultText } from '../../bench/cluster/fault-plan.ts';
import { RandomStream } from '../../simulator/random.ts';
import { describeWith } from '../helpers/requires.ts';
import { seedsOf } from '../helpers/seeds.ts';

const { seed } = seedsOf('killed-cluster');
const TARGETS = { apis: 3, workers: 3, proxies: 2, areApart: true };

function planOf(from: number, count: number, areApart = true): readonly string[] {
  const plan = faultPlan(new RandomStream(from), { ...TARGETS, areApart });
  return Array.from({ length: count }, () => plan.next().value).map(faultText);
}

it('a plan of faults follows from its seed, and has every kind once in a round', () => {
  expect(planOf(7, 40)).toEqual(planOf(7, 40));
  expect(planOf(8, 40)).not.toEqual(planOf(7, 40));
  for (const kind of FAULT_KINDS)
    expect(planOf(7, FAULT_KINDS.length).filter((line) => line.includes(kind))).toHaveLength(1);
  expect(planOf(7, 40, false).filter((line) => line.includes('machine'))).toEqual([]);
});

it('a finding is told with the seed, the plan and where the logs are', () => {
  const text = textOf({
    ...{ seed: 42, findings: ['life-1 was started 2 times'], plan: planOf(42, 2), logs: '/somewhere/logs' },
    ...{ notApart: 'unshare is not permitted', counts: { 'messages accepted': 3 } },
  });
  for (const line of ['seed 42', 'broken: life-1', ...planOf(42, 2), '/somewhere/logs', 'not permitted'])
    expect(text).toContain(line);
});

describeWith('temporal', 'a cluster of three workers', () => {
  describeWith('postgres', 'with one database', () => {
    describeWith('s3-server', 'and one bucket', () => {
      it('does or refuses all that it accepted, whatever comes to harm', async () => {
        const lines: string[] = [];
        const result = await clusterChaos({
          ...{ seed, minutes: 0, faults: FAULT_KINDS.length, conversations: 6, items: 3, clients: 6 },
          ...{ pace: 0.3, isolation: 'none', tell: (line) => lines.push(line) },
        });
        expect(result.findings, textOf(result)).toEqual([]);
        expect(result.plan).toHaveLength(FAULT_KINDS.length);
        expect(result.counts['conversations led']).toBeGreaterThanOrEqual(6);
        expect(result.counts['calls billed to agents']).toBeGreaterThan(0);
      });
    });
  });
});
