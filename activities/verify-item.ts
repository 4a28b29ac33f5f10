/**
 * verifyItem: runs the job's own check in the sandbox, before anything is collected (D28).
 * Owns the log of it; `execution_status` is not rewritten by its result.
 */
import type { CommandOf, MachineEvent } from '../core/command.ts';
import type { CommandResult } from '../ports/agent-server.ts';
import { BRIEF, type Activity } from './activity.ts';
import { agentTarget } from './agent-target.ts';
import { CHECK_LOG, checkLog } from './check-log.ts';
import { workspaceFacts } from './in-sandbox.ts';
import { planItem } from './plan-item.ts';
import { hiddenForms, openSecrets, redactText } from './redaction.ts';
import type { World } from './world.ts';

type Verify = CommandOf<'verifyItem'>;

export const verifyItem = (world: World): Activity<'verifyItem'> => ({
  type: 'verifyItem',
  retry: BRIEF,
  run: (command) => verify(world, command),
  failed: (command, error) => ({
    type: 'verifyFailed',
    commandId: command.id,
    index: command.index,
    reason: `${error.code}: ${error.message}`,
  }),
});

async function verify(world: World, command: Verify): Promise<MachineEvent> {
  const { conversationId, sandboxId } = command;
  const { item } = await planItem(world, command);
  if (item.verify === null) return answer(command, { passed: true, detail: null });
  const record = await world.records.sandbox(sandboxId);
  const target = await agentTarget(world, { sandboxId, generation: record?.generation ?? 0 });
  const { workingDir } = await workspaceFacts(world, conversationId);
  const { command: script, timeoutMs } = item.verify;
  const result = await world.agent.execute(target, { command: IN_ORDER + script, workingDir, timeoutMs });
  await keepLog(world, command, result);
  if (result.exitCode === 0) return answer(command, { passed: true, detail: null });
  const why =
    result.exitCode === -1 ? `no end within ${timeoutMs / 1_000} s` : `exit code ${result.exitCode}`;
  return answer(command, { passed: false, detail: `verify: ${why}` });
}

/** Errors stand among the other lines where they were printed, so that the last lines are the last ones. */
const IN_ORDER = 'exec 2>&1\n';

function answer(
  command: Verify,
  verdict: { readonly passed: boolean; readonly detail: string | null },
): MachineEvent {
  return { type: 'itemVerified', commandId: command.id, index: command.index, ...verdict };
}

/** What the check printed, for whoever reads why it failed; secret values removed (D20). */
async function keepLog(world: World, command: Verify, result: CommandResult): Promise<void> {
  const forms = hiddenForms(Object.values(await openSecrets(world, command.conversationId)));
  const text = redactText(checkLog(result.exitCode, `${result.stdout}\n${result.stderr}`), forms);
  const file = { runId: command.runId, key: command.key, name: CHECK_LOG };
  await world.results.write(file, new TextEncoder().encode(text));
}
