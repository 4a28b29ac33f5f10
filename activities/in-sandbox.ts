/**
 * Running a shell script in a sandbox as part of a start.
 * Owns quoting and the translation of an exit code into an error; must not decide what a failure means.
 */
import type { ErrorCode } from '../core/error-catalogue.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { ConversationId } from '../core/ids.ts';
import type { AgentTarget, CommandResult } from '../ports/agent-server.ts';
import type { WorkspaceFacts } from '../ports/record-store.ts';
import { Recent } from './recent.ts';
import type { World } from './world.ts';

/** Output kept in an error: enough for the cause, bounded for the record. */
const OUTPUT_CHARS_MAX = 2_000;

/** The exit code of a program that SIGKILL has ended; the kernel sends that signal, too. */
const KILLED = 137;

export interface SandboxScript {
  readonly script: string;
  readonly workingDir: string;
  readonly timeoutMs: number;
}

/** How a command that failed has ended. */
export function endWords(exitCode: number, timeoutMs: number): string {
  if (exitCode === -1) return `no end within ${timeoutMs / 1_000} s`;
  return exitCode === KILLED
    ? `exit code ${exitCode}, killed, as for want of memory`
    : `exit code ${exitCode}`;
}

/** @throws ParleyError `code` with the end of what the script printed */
export async function runScript(
  world: World,
  target: AgentTarget,
  options: SandboxScript & { readonly code: ErrorCode; readonly doing: string },
): Promise<CommandResult> {
  const { script: command, workingDir, timeoutMs, code, doing } = options;
  const result = await world.agent.execute(target, { command, workingDir, timeoutMs });
  if (result.exitCode === 0) return result;
  const why = endWords(result.exitCode, timeoutMs);
  const output = `${result.stdout}\n${result.stderr}`.trim().slice(-OUTPUT_CHARS_MAX);
  throw new ParleyError(code, `Cannot ${doing}: ${why}: ${output}`);
}

/** Every step of a start reads the same ones. */
const recentFacts = new Recent<World['workspaces'], ConversationId, WorkspaceFacts>(1_000);

/** Facts of a workspace that a start recorded. @throws ParleyError not_found */
export function workspaceFacts(world: World, conversationId: ConversationId): Promise<WorkspaceFacts> {
  return recentFacts.get(world.workspaces, conversationId, async () => {
    const facts = await world.workspaces.facts(conversationId);
    if (facts !== null) return facts;
    throw new ParleyError('not_found', `Cannot find the workspace of conversation "${conversationId}"`);
  });
}
