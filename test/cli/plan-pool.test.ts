/** What `plan` says of a pool: its sandboxes, its places, and what the deployment has no room for. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { outlookLines, planOutlook } from '../../host/job/plan-outlook.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { PlanPool } from '../../core/placement/place-in-pool.ts';
import { runCli } from '../../cli/program.ts';
import { pooledPlan } from '../conformance/scripts-of-pools.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell } from './fake-shell.ts';

const DEPLOYMENT = {
  capacity: { installationMax: 100, userMax: 10, conversationsPerSandboxMax: 20 },
  limits: { idleTimeMs: null, deletionTimeMs: null },
};

const outlookOf = (pool: Partial<PlanPool>, deployment: typeof DEPLOYMENT | null = DEPLOYMENT) =>
  planOutlook(pooledPlan(50, pool, { admission: { concurrency: 40 } }), { deployment, history: [] });

describe('the outlook of a plan with a pool', () => {
  it('has the places of the pool, and says that the others wait', () => {
    const outlook = outlookOf({ size: 4, maxPerSandbox: 2 });
    expect(outlook).toMatchObject({ peak: 8, sandboxesPeak: 4 });
    expect(outlook.limits).toContain('pool: 8 of 40 at once; the others wait');
    expect(outlookLines(outlook)).toContain('limit: pool: 8 of 40 at once; the others wait');
  });

  it('says that the others fail where the job wants it so', () => {
    expect(outlookOf({ size: 4, onFull: 'fail' }).limits).toContain('pool: 4 of 40 at once; the others fail');
  });

  it('has no bound of its own where it spills', () => {
    const outlook = outlookOf({ size: 4, onFull: 'spill' });
    expect(outlook).toMatchObject({ peak: 40, sandboxesPeak: 10 });
    expect(outlook.limits.filter((limit) => limit.startsWith('pool'))).toEqual([]);
  });

  it('warns of more sandboxes, or more in each, than the deployment allows', () => {
    const outlook = outlookOf({ size: 12, maxPerSandbox: 30 });
    expect(outlook).toMatchObject({ sandboxesPeak: 10, peak: 40 });
    expect(outlook.limits).toEqual(
      expect.arrayContaining([
        'capacity: the pool has 12 sandboxes, and there are slots for 10',
        'capacity: 30 at once in a sandbox of the pool, and the deployment allows 20',
      ]),
    );
  });

  it('knows the sandboxes also where the deployment is not known', () => {
    expect(outlookOf({ size: 4 }, null)).toMatchObject({ peak: 4, sandboxesPeak: 4 });
    expect(outlookOf({ size: 4, onFull: 'spill' }, null)).toMatchObject({ sandboxesPeak: null });
  });
});

describe('the outlook of a plan with more conversations than slots', () => {
  const { placement, ...rest } = pooledPlan(50, {}, { admission: { concurrency: 40 } });
  const alone = { ...rest, placement: { sandboxId: placement.sandboxId, strategy: 'NO_GROUPING' as const } };
  const earlier = (minutes: number) => ({ costNanoUsd: null, admittedAt: 0, endedAt: minutes * MINUTE_MS });

  it('says in how many rounds they wait their turn', () => {
    const { limits, waitP50Ms } = planOutlook(alone, { deployment: DEPLOYMENT, history: [] });
    expect(limits).toContain(
      'capacity: sandboxes for 10 of 40 at once; the others wait their turn, 5 rounds in all',
    );
    expect(waitP50Ms).toBeNull();
  });

  it('says how long the last one waits, by an earlier run', () => {
    const history = [10, 20, 30].map(earlier) as unknown as readonly RunItemRow[];
    const outlook = planOutlook(alone, { deployment: DEPLOYMENT, history });
    expect(outlook).toMatchObject({ timeP50Ms: 100 * MINUTE_MS, waitP50Ms: 80 * MINUTE_MS });
    expect(outlookLines(outlook).join('\n')).toContain('; the last one waits 1h20m for its turn');
  });
});

const JOB = `kind: job
version: 1
name: demo
defaults: { model: coder }
conversations:
  - id: up
    matrix: { owner: [web, shop] }
    repo: acme/\${{ matrix.owner }}
    prompt: Upgrade it.
placement:
  pool: { size: 2, max_per_sandbox: 4, affinity: '\${{ matrix.owner }}', recycle: { after: 25, max_age: 10h }, warm: true }
`;

async function planned(...flags: readonly string[]): Promise<string> {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'job.yaml'), JOB);
  const shell = fakeShell({ cwd });
  expect(await runCli(['plan', 'job.yaml', ...flags], shell)).toBe(0);
  return shell.stdout.text;
}

describe('parley plan with a pool', () => {
  it('prints the pool in one line', async () => {
    expect(await planned()).toContain(
      'pool: 2 sandboxes with 4 places each, recycled after 25 conversations or at the age of 10h00m, when full wait, warmed\n',
    );
  });

  it('tells where each value of it comes from, and the affinity of an item', async () => {
    const text = await planned('--expanded');
    expect(text).toMatch(/placement\.pool\.max_per_sandbox +4 .*job\.yaml:11/);
    expect(text).toMatch(/placement\.pool\.on_full +wait .*default/);
    expect(text).toMatch(/placement\.pool\.affinity +web /);
  });
});
