/**
 * Into the workspace of a conversation: a released sandbox is resumed first, for as long as a caller waits (D7).
 * Owns the wait and its bound; what is read there is the reader's business.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { reachableAgent } from '../../activities/agent-target.ts';
import { keepContact } from '../../activities/sandbox-contact.ts';
import { workspaceFacts } from '../../activities/in-sandbox.ts';
import { EMPTY_TREE } from '../../core/commit-id.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { ConversationRow, SandboxRow } from '../../core/machine/projection.ts';
import type { AgentTarget } from '../../ports/agent-server.ts';
import type { Application } from '../application/application.ts';

/** How long a read waits for the sandbox to come back (D7). */
const RESUME_WAIT_MS = 60_000;
const POLL_MS = 50;
/** Seconds after which a retry makes sense. */
const RETRY_AFTER_S = 5;

export interface Workspace {
  readonly target: AgentTarget;
  /** Absolute path inside the sandbox. */
  readonly workingDir: string;
  /** Where the work began; null when there was no repository. */
  readonly baseCommit: string | null;
  /** What a repository is read against that does not know where the work began; null for its own beginning. */
  readonly otherBase: string | null;
}

/** @throws ParleyError sandbox_starting, sandbox_error, sandbox_missing, sandbox_resuming, host_unreachable */
export async function openWorkspace(application: Application, row: ConversationRow): Promise<Workspace> {
  const { world } = application;
  const sandbox = await usableSandbox(application, row);
  const { sandboxId, generation } = sandbox;
  const target = await reachableAgent(world, { sandboxId, generation }).catch(notThere);
  await keepContact(world, sandboxId, { kind: 'workspace' });
  const { workingDir, baseCommit } = await workspaceFacts(world, row.conversationId);
  // Where none was selected, all of it is the agent's work.
  const otherBase = row.selectedRepository === null ? EMPTY_TREE : null;
  return { target, workingDir, baseCommit, otherBase };
}

/** It went down between the check and the call, or its address is not known yet. */
function notThere(error: unknown): never {
  const passes =
    error instanceof ParleyError && (error.code === 'agent_unreachable' || error.code === 'stale_generation');
  throw passes ? resuming('it is not up at this moment') : error;
}

async function usableSandbox(application: Application, row: ConversationRow): Promise<SandboxRow> {
  if (row.startTask !== 'READY') throw notStarted(row);
  const { world, dialect } = application;
  const until = world.clock.now() + RESUME_WAIT_MS;
  let isAsked = false;
  for (;;) {
    const sandbox = row.sandboxId === null ? null : await world.records.sandbox(row.sandboxId);
    if (sandbox === null || sandbox.status === 'MISSING') throw over('sandbox_missing');
    if (sandbox.status === 'ERROR') throw over('sandbox_error');
    if (sandbox.available) return sandbox;
    if (!dialect.resumesOnRead)
      throw new ParleyError('sandbox_starting', 'Sandbox is paused; resume it before reading its workspace.');
    if (!isAsked) await askForResume(application, row);
    // The sandbox's own row shows a refusal: no transition any more, and a detail that says why.
    else if (sandbox.transition === null && sandbox.detail !== null && isAsked)
      throw resuming(sandbox.detail);
    isAsked = true;
    if (world.clock.now() >= until) throw resuming('it was not ready in time');
    await pause(POLL_MS);
  }
}

async function askForResume({ requests, randomHex }: Application, row: ConversationRow): Promise<void> {
  await requests.deliver({
    to: { machine: 'conversation', id: row.conversationId },
    event: { type: 'accessRequested', requestId: randomHex(32) },
  });
}

function notStarted({ startTask }: ConversationRow): ParleyError {
  return startTask === 'ERROR'
    ? over('sandbox_error')
    : new ParleyError('sandbox_starting', 'Cannot read the workspace: the conversation is starting');
}

function over(code: 'sandbox_error' | 'sandbox_missing'): ParleyError {
  return new ParleyError(code, 'Cannot read the workspace: the conversation is read-only');
}

function resuming(why: string): ParleyError {
  return new ParleyError('sandbox_resuming', `Cannot read the workspace yet: ${why}`, {
    details: { retry_after: RETRY_AFTER_S },
  });
}
