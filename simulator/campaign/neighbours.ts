/**
 * Who is next to whom: a conversation to its sandbox and its run, a run to the sandboxes it uses.
 * Owns the reading of states; what strikes one strikes its neighbours, too.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import { addressKey } from '../../core/ids.ts';
import type { RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { SimulationStep } from '../simulation-options.ts';

export class Neighbours {
  private readonly next = new Map<string, ReadonlySet<string>>();

  sees({ address, after }: SimulationStep): void {
    this.next.set(addressKey(address), new Set(neighboursOf(address.machine, after)));
  }

  /** Both ways, because one side may know of it first; without the entity itself. */
  of(entity: string): ReadonlySet<string> {
    const found = new Set(this.next.get(entity));
    for (const [other, theirs] of this.next) if (theirs.has(entity)) found.add(other);
    return found;
  }

  areNext(one: string, other: string): boolean {
    return this.next.get(one)?.has(other) === true || this.next.get(other)?.has(one) === true;
  }
}

function neighboursOf(machine: SimulationStep['address']['machine'], state: unknown): readonly string[] {
  switch (machine) {
    case 'sandbox':
      return Object.keys((state as SandboxState).attached).map((id) => `conversation/${id}`);
    case 'conversation': {
      const { sandboxId, spec } = state as ConversationState;
      return [
        ...(sandboxId === null ? [] : [`sandbox/${sandboxId}`]),
        ...(spec.runId === null ? [] : [`run/${spec.runId}`]),
      ];
    }
    case 'run':
    case 'shard': {
      const { items, sandboxes } = state as RunState;
      return [
        ...items.flatMap(({ conversationId: id }) => (id === null ? [] : [`conversation/${id}`])),
        ...sandboxes.map(({ sandboxId }) => `sandbox/${sandboxId}`),
      ];
    }
  }
}
