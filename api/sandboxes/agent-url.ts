/**
 * Where clients reach the Agent Server of a sandbox: one base address, through this server or a port of its own.
 * Owns the spelling of the address; who may use it is the relay's to check.
 */
import type { SandboxRow } from '../../core/machine/projection.ts';
import type { Application } from '../application/application.ts';

/** Below it, everything is the Agent Server's own. */
export const RELAY_PREFIX = '/sandboxes';

export function agentUrl(application: Application, { sandboxId }: Pick<SandboxRow, 'sandboxId'>): string {
  const path = `${RELAY_PREFIX}/${sandboxId}/agent`;
  return application.agentAddress?.(sandboxId, path) ?? `${application.publicUrl()}${path}`;
}
