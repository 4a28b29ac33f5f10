/**
 * What it means when an operator cancels a workflow from outside: a wish like any other, never a sudden death.
 * Owns the translation per machine.
 */
import type { EntityAddress } from '../core/ids.ts';
import type { Letter } from './letter.ts';

/** `runId` makes the wish of one run of the workflow the same wish however often it is read. */
export function cancellationOf(address: EntityAddress, runId: string): Letter {
  const requestId = `cancelled/${runId}`;
  switch (address.machine) {
    case 'run':
      return { id: requestId, event: { type: 'cancelRequested', requestId } };
    // It ends with its run, and its items are cancelled there.
    case 'shard':
      return { id: requestId, event: { type: 'deadline' } };
    case 'conversation':
    case 'sandbox':
      return { id: requestId, event: { type: 'deleteRequested', requestId } };
  }
}
