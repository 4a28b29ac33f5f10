/**
 * The sandbox record as clients see it (spec "Sandbox").
 * Owns the shape; both spellings of id and status are there (D3).
 */
import { z } from 'zod';
import type { SandboxRow } from '../../core/machine/projection.ts';
import type { Application } from '../application/application.ts';
import { hexId, instantOut, isoInstant } from '../application/wire.ts';
import { pauseReason, sandboxStatus, transition } from '../application/words.ts';

const exposedUrl = z.object({ name: z.string(), url: z.string(), port: z.int() }).meta({ id: 'ExposedUrl' });

export const sandboxSchema = z
  .object({
    id: hexId,
    sandbox_id: hexId,
    created_by_user_id: z.string(),
    sandbox_spec_id: z.string(),
    status: sandboxStatus,
    sandbox_status: sandboxStatus,
    status_detail: z.string().nullable(),
    pause_reason: pauseReason.nullable(),
    transition: transition.nullable(),
    stale: z.boolean(),
    session_api_key: z.string().nullable(),
    exposed_urls: z.array(exposedUrl).nullable(),
    created_at: instantOut,
  })
  .meta({ id: 'Sandbox' });
export type SandboxRecord = z.output<typeof sandboxSchema>;

/** The one kind of sandbox of an installation: its runtime. */
export function specIdOf({ world }: Application): string {
  return world.runtime.capabilities.kind;
}

export function sandboxRecord(application: Application, row: SandboxRow): SandboxRecord {
  const { sandboxId: id, generation, available: isUp } = row;
  const url = agentUrl(application, row);
  return {
    id,
    sandbox_id: id,
    created_by_user_id: row.userId,
    sandbox_spec_id: specIdOf(application),
    status: row.status,
    sandbox_status: row.status,
    status_detail: row.detail,
    pause_reason: row.pauseReason,
    transition: row.transition,
    stale: row.stale,
    session_api_key: isUp ? application.world.keys.sessionKey(id, generation) : null,
    exposed_urls: isUp ? [{ name: 'AGENT_SERVER', url, port: portOf(url) }] : null,
    created_at: isoInstant(row.createdAt),
  };
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** Below it, everything is the Agent Server's own. */
const RELAY_PREFIX = '/sandboxes';

/**
 * Where clients reach the Agent Server of a sandbox: one base address, through this server or a port of its own.
 * Owns the spelling of the address; who may use it is the relay's to check.
 */
export function agentUrl(application: Application, { sandboxId }: Pick<SandboxRow, 'sandboxId'>): string {
  const path = `${RELAY_PREFIX}/${sandboxId}/agent`;
  return application.agentAddress?.(sandboxId, path) ?? `${application.publicUrl()}${path}`;
}
