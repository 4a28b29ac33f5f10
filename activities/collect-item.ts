/**
 * collectItem: keeps what an attempt made, before anything is cleaned up.
 * Owns the order, the scan for secrets, and that a branch is pushed last; what each step makes is in activities/collect/.
 */
import type { CommandOf, MachineEvent } from '../core/machine/command.ts';
import { collectOf, readsWorkspace } from '../core/plan/item-rules.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { CollectStep, Plan, PlanItem } from '../core/plan/plan.ts';
import { retryOf } from '../core/machine/resource.ts';
import { waitAfter } from '../core/machine/retry.ts';
import type { Finding } from '../core/run/items/item-evidence.ts';
import { foundSandbox, type LostSandbox } from '../core/run/items/lost-sandbox.ts';
import type { AgentTarget } from '../ports/agent-server.ts';
import type { Handler } from './activity.ts';
import { agentTarget, resumeReleased } from './agent-target.ts';
import { deliver, problemOfDelivery } from './collect/deliver.ts';
import { collectDiff } from './collect/diff.ts';
import { collectFiles } from './collect/files.ts';
import { collectTrajectory } from './collect/trajectory.ts';
import { collectUsage } from './collect/usage.ts';
import { keepResult, type Collected, type CollectedStep } from './collect/collected.ts';
import { leftOut, withheldWords, writeFindings } from './collect/findings.ts';
import { shownName } from './collect/matches.ts';
import { hasPassed } from './check-log.ts';
import { planItem } from './plan-item.ts';
import { hiddenForms, openSecrets, redactText, secretForms } from './redaction.ts';
import { spentBy } from './spend.ts';
import { syncTranscript } from './transcript.ts';
import { readScores } from './score-file.ts';
import type { World } from './world.ts';

type Collect = CommandOf<'collectItem'>;
type EventOf<Type extends MachineEvent['type']> = Extract<MachineEvent, { readonly type: Type }>;

export const collectItem = (world: World): Handler<'collectItem'> => ({
  run: (command, { attempt }) =>
    collect(world, command, attempt).catch((error: unknown) =>
      failedLast(world, command, { error, attempt }),
    ),
  failed,
});

function failed(command: Collect, error: ParleyError): EventOf<'collectFailed'> {
  const reason = `${error.code}: ${error.message}`;
  return { type: 'collectFailed', commandId: command.id, index: command.index, reason };
}

/** What fails for good still says what the attempt cost (D30); what is tried again says it then. */
async function failedLast(
  world: World,
  command: Collect,
  { error, attempt }: { readonly error: unknown; readonly attempt: number },
): Promise<MachineEvent> {
  if (!(error instanceof ParleyError)) throw error;
  if (waitAfter(error, retryOf('collectItem'), attempt) !== null) throw error;
  const costNanoUsd = await spentBy(world, command.conversationId).catch(() => null);
  if (costNanoUsd === null) throw error;
  return { ...failed(command, error), costNanoUsd };
}

/** Tries at a branch whose host does not answer; then the item ends without it, and the evidence says so. */
const DELIVER_TRIES = 3;
const PASSING = ['deliver_failed', 'code_host_failed'] as const;

async function collect(world: World, command: Collect, attempt: number): Promise<MachineEvent> {
  const { plan, item } = await planItem(world, command);
  const { target, lost } = await sourceOf(world, command);
  if (target !== null) await syncTranscript(world, target, command.conversationId);
  const secrets = Object.values(await openSecrets(world, command.conversationId));
  const forms = secretForms(secrets);
  const kept = new Set<string>();
  const findings: Finding[] = [];
  const steps = collectOf(item, plan);
  for (const step of steps) {
    const { made, findings: lacking } = await carryOut(world, command, step, target);
    findings.push(...lacking);
    for (const one of made) {
      const obstacle = await keep(world, command, one, forms);
      if (obstacle === null) kept.add(one.name);
      else findings.push(obstacle);
    }
  }
  const { runId, key, conversationId } = command;
  const hidden = hiddenForms(secrets);
  const told = findings.map((one) => redactedFinding(one, hidden));
  await writeFindings(world, { runId, key }, told);
  if (kept.has('changes.patch') && (await maySend(world, command, { plan, item }))) {
    const done = await deliver(world, { runId, conversationId, plan, item });
    const problem = done === null ? null : problemOfDelivery(done);
    const code = PASSING.find((one) => one === problem?.code);
    if (code !== undefined && attempt + 1 < DELIVER_TRIES)
      throw new ParleyError(code, problem?.message ?? '');
  }
  const costNanoUsd = await spentBy(world, command.conversationId);
  const withheld = withheldWords(told);
  return {
    type: 'itemCollected',
    commandId: command.id,
    index: command.index,
    costNanoUsd,
    ...(withheld === null ? {} : { withheld }),
    ...(lost === null || !steps.some(readsWorkspace) ? {} : { lost }),
  };
}

/** What is collected from, beside what is stored outside the sandbox. */
interface Source {
  /** Null: nothing. */
  readonly target: AgentTarget | null;
  /** The sandbox, where it cannot be read any more; null where it can, and where there never was one. */
  readonly lost: LostSandbox | null;
}

/** A released sandbox is brought back first (D7). */
async function sourceOf(world: World, command: Collect): Promise<Source> {
  const { sandboxId, conversationId } = command;
  if (sandboxId === null) return { target: null, lost: null };
  const { row, lost } = foundSandbox(await world.records.sandbox(sandboxId), command.workspaceReadable);
  if (lost !== null) return { target: null, lost };
  await resumeReleased(world, command, row);
  const incarnation = { sandboxId, generation: row.generation };
  const target = await agentTarget(world, incarnation).catch((error: unknown) => {
    throw new ParleyError(
      'collect_failed',
      `Cannot collect from conversation "${conversationId}": the agent is not reachable`,
      { cause: error },
    );
  });
  return { target, lost: null };
}

async function carryOut(
  world: World,
  command: Collect,
  step: CollectStep,
  target: AgentTarget | null,
): Promise<CollectedStep> {
  switch (step.kind) {
    case 'trajectory':
      return { made: await collectTrajectory(world, command.conversationId), findings: [] };
    case 'usage':
      return { made: await collectUsage(world, command.conversationId), findings: [] };
    case 'diff':
      return target === null ? NOTHING : await collectDiff(world, target, command.conversationId);
    case 'files':
      return target === null
        ? NOTHING
        : await collectFiles(world, target, { conversationId: command.conversationId, globs: step.globs });
  }
}

const NOTHING: CollectedStep = { made: [], findings: [] };

/**
 * Whether the result is one that the plan pushes. That it is good is not said in the command: it ended well, its agent
 * says that it has finished, and the check and scores, where there are any, say in writing that it is good (D28).
 */
async function maySend(
  world: World,
  { runId, key, conversationId }: Collect,
  { plan, item }: { readonly plan: Plan; readonly item: PlanItem },
): Promise<boolean> {
  if (plan.deliver === undefined) return false;
  if (plan.deliver.when === 'always') return true;
  const conversation = await world.records.conversation(conversationId);
  if (conversation?.executionStatus !== 'FINISHED') return false;
  const row = await world.records.runItem(runId, key);
  if (row === null || row.failureClass !== null) return false;
  if (item.verify !== null && !(await hasPassed(world, { runId, key }))) return false;
  if (item.scores === undefined) return true;
  const scores = await readScores(world, { runId, key });
  return scores !== null && scores.every(({ problem }) => problem === null);
}

/** What holds the value of a secret is left out, and the fact is recorded (D20). Null when it is kept. */
async function keep(
  world: World,
  command: Collect,
  made: Collected,
  forms: readonly string[],
): Promise<Finding | null> {
  const { runId, key, conversationId } = command;
  try {
    if (await keepResult(world, made, { runId, key, forms })) return null;
  } catch (error) {
    if (!isForItsName(error)) throw error;
    return leftOut(shownName(Buffer.from(made.name)), 'left out: no file of such a name can be kept here');
  }
  const about = { machine: 'conversation', id: conversationId } as const;
  const detail = `"${redactText(made.name, forms)}" holds the value of a secret and was left out`;
  await world.lifecycle.record(
    { about, conversationId, code: 'secret_in_result', detail },
    world.clock.now(),
  );
  return { code: 'secret', result: made.name, says: 'withheld: it holds the value of a secret' };
}

/** A disk that is full or gone is trouble of the host; a name that it does not take is the file's own. */
function isForItsName(error: unknown): boolean {
  if (!(error instanceof ParleyError)) return false;
  if (error.code === 'invalid_request') return true;
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return ['ENAMETOOLONG', 'EINVAL', 'EILSEQ', 'EISDIR', 'ENOTDIR', 'EEXIST'].includes(code);
}

const redactedFinding = (finding: Finding, forms: readonly string[]): Finding => ({
  ...finding,
  result: redactText(finding.result, forms),
  says: redactText(finding.says, forms),
});
