/**
 * verifyItem: runs the job's own check and scorers in the sandbox, before anything is collected (D28).
 * Owns the log and the numbers of them; `execution_status` is not rewritten by its result.
 */
import type { CommandOf, MachineEvent } from '../core/machine/command.ts';
import type { PlanScore, PlanVerify } from '../core/plan/plan-check.ts';
import type { SandboxRow } from '../core/machine/projection.ts';
import type { Score } from '../core/run/items/item-evidence.ts';
import { foundSandbox, type LostSandbox } from '../core/run/items/lost-sandbox.ts';
import type { AgentTarget, CommandResult } from '../ports/agent-server.ts';
import type { Handler } from './activity.ts';
import { agentTarget, resumeReleased } from './agent-target.ts';
import { CHECK_LOG, checkLog } from './check-log.ts';
import { endWords, workspaceFacts } from './in-sandbox.ts';
import { planItem } from './plan-item.ts';
import { hiddenForms, openSecrets, redactText } from './redaction.ts';
import { scoreOf, SCORES_FILE, scoresText } from './score-file.ts';
import type { World } from './world.ts';

type Verify = CommandOf<'verifyItem'>;

export const verifyItem = (world: World): Handler<'verifyItem'> => ({
  run: (command) => verify(world, command),
  failed: (command, error) => ({
    type: 'verifyFailed',
    commandId: command.id,
    index: command.index,
    reason: `${error.code}: ${error.message}`,
  }),
});

async function verify(world: World, command: Verify): Promise<MachineEvent> {
  const { item } = await planItem(world, command);
  if (item.verify === null && item.scores === undefined)
    return answer(command, { passed: true, detail: null });
  const { row, lost } = foundSandbox(await world.records.sandbox(command.sandboxId), true);
  if (lost !== null) return withoutSandbox(command, lost);
  const place = await placeOf(world, command, row);
  const problems = [
    ...(item.verify === null ? [] : await check(place, item.verify)),
    ...(item.scores === undefined ? [] : await measure(place, item.scores)),
  ];
  if (problems.length === 0) return answer(command, { passed: true, detail: null });
  const detail = problems.join('; ');
  const view = await world.agent.conversation(place.target, command.conversationId);
  if (view?.diskWasFull === true) return withoutRoom(command, detail);
  return answer(command, { passed: false, detail });
}

/** Nothing will be there to try again in: another attempt has a sandbox of its own. */
function withoutSandbox({ id: commandId, index }: Verify, lost: LostSandbox): MachineEvent {
  return { type: 'verifyFailed', commandId, index, reason: `the sandbox is ${lost.status}`, lost };
}

/** On a full disk, written files may be missing: that says nothing of the work, and another attempt may be made. */
function withoutRoom({ id: commandId, index }: Verify, detail: string): MachineEvent {
  const reason = `disk_full: the disk of the sandbox was full while the agent worked; ${detail}`;
  return { type: 'verifyFailed', commandId, index, reason };
}

/** Where commands of the job run, and what is removed from their output. */
interface Place {
  readonly world: World;
  readonly command: Verify;
  readonly target: AgentTarget;
  readonly run: (command: string, timeoutMs: number) => Promise<CommandResult>;
  /** Secret values removed (D20). */
  readonly redact: (text: string) => string;
}

async function placeOf(world: World, command: Verify, record: SandboxRow): Promise<Place> {
  const { conversationId, sandboxId } = command;
  await resumeReleased(world, command, record);
  const target = await agentTarget(world, { sandboxId, generation: record.generation });
  const { workingDir } = await workspaceFacts(world, conversationId);
  const forms = hiddenForms(Object.values(await openSecrets(world, conversationId)));
  return {
    world,
    command,
    target,
    run: (script, timeoutMs) => world.agent.execute(target, { command: script, workingDir, timeoutMs }),
    redact: (text) => redactText(text, forms),
  };
}

/** The output of the check is kept, for users who want to know why it failed. */
async function check(place: Place, { command: script, timeoutMs }: PlanVerify): Promise<readonly string[]> {
  const { exitCode, stdout, stderr } = await place.run(IN_ORDER + script, timeoutMs);
  await keep(place, CHECK_LOG, checkLog(exitCode, `${stdout}\n${stderr}`));
  if (exitCode === 0) return [];
  return [`verify: ${endWords(exitCode, timeoutMs)}`];
}

/** Every score is recorded, even if the check or another score failed: work is compared by them. */
async function measure(place: Place, plans: readonly PlanScore[]): Promise<readonly string[]> {
  const scores: Score[] = [];
  for (const plan of plans) {
    const { name, value, problem, ...bounds } = scoreOf(plan, await place.run(plan.command, plan.timeoutMs));
    scores.push({ name, value, ...bounds, problem: problem === null ? null : place.redact(problem) });
  }
  await keep(place, SCORES_FILE, scoresText(scores));
  return scores.flatMap(({ name, problem }) => (problem === null ? [] : [`score ${name}: ${problem}`]));
}

async function keep({ world, command, redact }: Place, name: string, text: string): Promise<void> {
  const { runId, key } = command;
  await world.results.write({ runId, key, name }, new TextEncoder().encode(redact(text)));
}

/** Puts errors among the other lines in the order of printing, so that the last line is really the last. */
const IN_ORDER = 'exec 2>&1\n';

function answer(
  command: Verify,
  verdict: { readonly passed: boolean; readonly detail: string | null },
): MachineEvent {
  return { type: 'itemVerified', commandId: command.id, index: command.index, ...verdict };
}
