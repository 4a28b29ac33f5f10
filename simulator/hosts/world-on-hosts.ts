/**
 * The hosts of a world: what a machine that goes, or comes back, does to the sandboxes of the models.
 * Owns the wiring of workers with runtime, agents and placement; null where a policy has no hosts.
 */
import type { ActivityCommand } from '../../core/machine/command.ts';
import type { SandboxId } from '../../core/ids.ts';
import type { ModelPort } from '../model-port.ts';
import type { AgentsModel } from '../models/agents-model.ts';
import type { Policy } from '../models/model-options.ts';
import type { PlacementModel } from '../models/placement-model.ts';
import type { RuntimeModel } from '../models/runtime-model.ts';
import { HostWorkers } from './host-workers.ts';

interface World {
  readonly runtime: RuntimeModel;
  readonly agents: AgentsModel;
  readonly placement: PlacementModel;
  begin(command: ActivityCommand): void;
}

export function hostsOf(world: World, port: ModelPort, { hosts }: Policy): HostWorkers | null {
  if (hosts === undefined) return null;
  const cut = (id: SandboxId): void => world.agents.cut(world.placement.membersOf(id));
  const sandboxes = {
    vanish: (id: SandboxId): void => {
      world.runtime.vanish(id);
      cut(id);
    },
    remove: (id: SandboxId): void => {
      world.runtime.destroy(id);
      cut(id);
    },
    isMissing: (id: SandboxId): boolean => world.placement.rows.get(id)?.status === 'MISSING',
  };
  return new HostWorkers(hosts, { port, sandboxes, begin: (command) => world.begin(command) });
}

/** What is alive, without what may live on unseen. */
export function liveInSight(
  live: ReadonlyMap<SandboxId, ReadonlySet<number>>,
  hosts: HostWorkers | null,
): ReadonlyMap<SandboxId, ReadonlySet<number>> {
  if (hosts?.areBeyond !== true) return live;
  return new Map([...live].filter(([id]) => !hosts.isBeyond(id)));
}

/** The waiters, among those whose turn it is, for which a host has room. */
export function turnsWithHost<Turn extends { readonly machine: string; readonly waiterId: string }>(
  turns: readonly Turn[],
  hosts: HostWorkers | null,
): readonly Turn[] {
  if (hosts === null) return turns;
  return turns.filter(({ machine, waiterId }) =>
    hosts.table.hasRoom(machine === 'sandbox' ? (waiterId as SandboxId) : null),
  );
}
