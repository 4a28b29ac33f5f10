/**
 * Lets one fault of a plan happen to the cluster, and ends it.
 * Owns what a kind of fault means; when it happens is the plan's.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from './fault-plan.ts';
import type { Cluster } from './ground.ts';
import type { Program } from './program.ts';

/** Resolves when what was struck is started again, not when it serves. */
export async function strike(cluster: Cluster, { kind, target, awayMs }: Fault): Promise<void> {
  const { services, machines } = cluster;
  switch (kind) {
    case 'api killed':
      return await killed(cluster.apis[target], awayMs);
    case 'worker killed':
      return await killed(cluster.workers[target], awayMs);
    case 'proxy killed':
      return await killed(cluster.proxies[target], awayMs);
    case 'api stopped':
      return await stopped(cluster.apis[target], awayMs);
    case 'worker stopped':
      return await stopped(cluster.workers[target], awayMs);
    case 'proxy stopped':
      return await stopped(cluster.proxies[target], awayMs);
    case 'machine without power':
      await withoutPower(cluster, target);
      await pause(awayMs);
      await machines[target]?.start();
      cluster.workers[target]?.start();
      return;
    case 'machine lost for good':
      await withoutPower(cluster, target);
      await pause(awayMs);
      return await cluster.replace(target);
    case 'PostgreSQL crashed':
      await services.postgres.stop('SIGQUIT');
      await pause(awayMs);
      return await services.postgres.start();
    case 'Temporal killed':
      await services.temporal.kill();
      await pause(awayMs);
      return await services.temporal.start();
    case 'bucket killed':
      await services.s3.kill();
      await pause(awayMs);
      return await services.s3.start();
  }
}

async function withoutPower({ workers, machines }: Cluster, target: number): Promise<void> {
  workers[target]?.forget();
  await machines[target]?.cutPower();
  await workers[target]?.kill();
}

async function killed(program: Program | undefined, awayMs: number): Promise<void> {
  await program?.kill();
  await pause(awayMs);
  program?.start();
}

async function stopped(program: Program | undefined, awayMs: number): Promise<void> {
  program?.suspend();
  await pause(awayMs);
  program?.goOn();
}
