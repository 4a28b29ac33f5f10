/**
 * When an order is refused, whatever the sandbox is made of.
 * Owns the rules of generations (D14) and the errors; must not look anything up.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxRuntime, StartSandboxRequest } from '../../ports/sandbox-runtime.ts';

/** The part of a record that says what is wanted. */
export interface Wanted {
  readonly generation: number;
  readonly desired: 'up' | 'stopped' | 'destroyed';
}

interface StartOutlook {
  readonly request: StartSandboxRequest;
  /** What was ordered last; null for a sandbox that is new or gone. */
  readonly found: Wanted | null;
  /** Generations up to this one have ended for good. */
  readonly endedGeneration: number;
  readonly isOvertaken: boolean;
}

/** Null when the start may go on. */
export function staleReason({ request, found, endedGeneration, isOvertaken }: StartOutlook): string | null {
  const { generation } = request;
  if (isOvertaken || generation <= endedGeneration) return 'a newer order was given';
  if (found === null) return null;
  if (found.desired === 'destroyed') return 'the sandbox was destroyed';
  if (found.generation > generation) return `generation ${found.generation} was started`;
  const wasStopped = found.generation === generation && found.desired === 'stopped';
  return wasStopped ? 'this incarnation was stopped' : null;
}

export function stale({ sandboxId, generation }: StartSandboxRequest, why: string): ParleyError {
  const message = `Cannot start generation ${generation} of sandbox "${sandboxId}": ${why}`;
  return new ParleyError('stale_generation', message, { details: { generation } });
}

/** An order about a generation after which `started` was started. */
export function overtakenOrder(
  verb: 'stop' | 'freeze' | 'thaw',
  { sandboxId, generation }: Parameters<SandboxRuntime['stop']>[0],
  started: number,
): ParleyError {
  const what = `Cannot ${verb} generation ${generation} of sandbox "${sandboxId}"`;
  const message = `${what}: generation ${started} was started`;
  return new ParleyError('stale_generation', message, { details: { generation } });
}

export function tooLate({ sandboxId, deadline }: StartSandboxRequest): ParleyError {
  const message = `Cannot start sandbox "${sandboxId}": its Agent Server did not answer by the deadline`;
  return new ParleyError('runtime_failed', message, { details: { deadline } });
}
