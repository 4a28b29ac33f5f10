/**
 * `parley plan`: what a run would do, conversation by conversation, and nothing is run.
 * Owns the printed form of a plan and the saved file; the plan itself comes from the compiler.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { counted } from '../../core/text/counted.ts';
import { fillDeliverText } from '../../core/plan/deliver-name.ts';
import { knownItems } from '../../core/plan/known-items.ts';
import { describePin, hostPin } from '../../core/placement/choose-host.ts';
import type { PlanPool } from '../../core/placement/place-in-pool.ts';
import type { PlanIssues } from '../../core/plan/plan-issue.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { Outcome } from '../../core/status.ts';
import { diffPlans } from '../../dsl/plan/plan-diff.ts';
import { type InstalledAgent, installedAgents } from '../../host/sandboxes/installed-agents.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import { loadDeployment } from '../../host/config/load-deployment.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { InputOptions } from '../job/given-inputs.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import { lastRun } from '../last-run.ts';
import { loadExplainedPlan, loadPlan } from '../job/load-plan.ts';
import { outlookLines, planOutlook } from '../../host/job/plan-outlook.ts';
import { duration, usd } from '../../core/text/amounts.ts';
import { agentsOf, providerOf } from '../../host/preflight/check-agents.ts';
import { ownRulesLines } from '../print/own-rules.ts';
import { planDiffLines } from '../take-changes.ts';
import { expandedLines, expandedRecords } from '../print/plan-expanded.ts';
import { openRecords } from '../../host/records.ts';
import { cut, table } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';

interface PlanOptions extends InputOptions, Flags {
  readonly out?: string;
  readonly expanded?: true;
  readonly diff?: string;
  readonly again?: true;
}

const PROMPT_WIDTH = 100;
/** A longer list is for --expanded. */
const ITEMS_SHOWN_MAX = 50;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('plan')
    .description('Compile a job file and show what a run would do.')
    .argument('<file>', 'job file, or a saved plan')
    .option('--out <file>', 'save the plan as JSON; "parley run FILE" runs exactly this')
    .option('--diff <run>', 'compare with this run (default: the last run of the job)')
    .option('--again', 'take issues once more that a run of the job has a result of')
    .option('--json', 'print the plan as a JSON record')
    .option('--expanded', 'show each effective value with its origin')
    .shares('config', 'inputs')
    .says('Exit codes: 0 planned, 1 the job has errors, 2 a file cannot be read or written.')
    .examples('parley plan job.yaml', 'parley plan job.yaml --out plan.json && parley run plan.json')
    .action(ends((file: string, options: PlanOptions) => plan(shell, file, options)));
}

async function plan(shell: Shell, file: string, options: PlanOptions): Promise<ExitCode> {
  const leavesDone = options.again !== true;
  const request = { file, config: options.config, checksSecrets: false, inputs: options, leavesDone };
  const explained = options.expanded === true ? await loadExplainedPlan(shell, request) : null;
  const loaded = options.expanded === true ? (explained?.plan ?? null) : await loadPlan(shell, request);
  if (loaded === null) return EXIT.failed;
  if (options.out !== undefined) save(shell, loaded, options.out);
  const { cwd, env } = shell;
  const { config, values } = await loadDeployment({ path: options.config ?? null, cwd, env });
  const last = await lastRun(shell, loaded, { deployment: config, against: options.diff });
  const outlook = planOutlook(loaded, { deployment: config?.deployment ?? null, history: last.items });
  const diff = last.plan === null ? null : diffPlans(last.plan, loaded, outcomesOf(last.items));
  const installed = installedOf(loaded, config);
  const keys = loaded.items.map(({ key }) => key);
  const expanded = explained === null ? null : { origins: explained.origins, keys, settings: values };
  if (options.json === true) {
    const records = openRecords(shell.stdout);
    records.write({ type: 'plan', plan: loaded, outlook });
    for (const agent of installed) records.write({ type: 'plan_agent', ...agent });
    if (diff !== null) records.write({ type: 'plan_diff', against: last.runId, ...diff });
    if (expanded !== null) for (const record of expandedRecords(expanded)) records.write(record);
    return EXIT.ok;
  }
  const about = diff === null ? [] : planDiffLines(diff, last.runId ?? '');
  const [head, ...rest] = describe(
    loaded,
    installed.map(({ name, version }) => `${name} ${version}`),
  );
  shell.stdout.write(`${[head, ...outlookLines(outlook), ...about, ...rest, ''].join('\n')}\n`);
  // Line by line: of a large plan this is a long text.
  const below = expanded === null ? listItems(loaded.items) : expandedLines(expanded);
  for (const line of below) shell.stdout.write(`${line}\n`);
  return EXIT.ok;
}

/** Which version of its agents a run here would have, as far as they are installed for the process runtime. */
function installedOf(
  loaded: Plan,
  deployment: DeploymentConfig | null,
): readonly Pick<InstalledAgent, 'name' | 'version' | 'integrity'>[] {
  if (deployment?.runtimeKind !== 'process') return [];
  const chosen = agentsOf(loaded, deployment.deployment.agent ?? null);
  if (chosen.length === 0) return [];
  const there = installedAgents(deployment.dataDir);
  const found = new Set(chosen.flatMap((agent) => providerOf(agent, there) ?? []));
  return [...found].map(({ name, version, integrity }) => ({ name, version, integrity }));
}

function outcomesOf(items: readonly RunItemRow[]): ReadonlyMap<string, Outcome | null> {
  return new Map(items.map(({ key, outcome }) => [key, outcome]));
}

function save({ cwd, stderr }: Shell, loaded: Plan, file: string): void {
  try {
    writeFileSync(path.resolve(cwd, file), `${JSON.stringify(loaded, null, 2)}\n`);
    stderr.write(`plan written to ${file}\n`);
  } catch (error) {
    throw new CliError(`Cannot write the plan to "${file}": ${reasonOf(error)}`);
  }
}

function describe(loaded: Plan, installed: readonly string[]): string[] {
  const { items, admission, placement, budget, wait, cleanup } = loaded;
  const pin = hostPin(placement);
  const otherwise = placement.pool === undefined ? "the user's setting" : 'fewest_conversations';
  const strategy = placement.sandboxId ?? placement.strategy?.toLowerCase() ?? otherwise;
  return [
    `${loaded.name}: ${counted(items.length, 'conversation')}, ${admission.concurrency} at once, placement ${strategy}`,
    ...(placement.pool === undefined ? [] : [poolLine(placement.pool)]),
    ...(pin === undefined ? [] : [`host: ${describePin(pin)}`]),
    `hash: ${loaded.hash}`,
    `ends: ${wait.until.join(', ')}; deadline ${duration(wait.deadlineMs)}, no progress ${duration(wait.noProgressMs)}`,
    `collect: ${loaded.collect.map(({ kind }) => kind).join(', ')}; then sandbox ${cleanup.sandbox}`,
    ...ownRulesLines(loaded),
    ...agentLines(loaded),
    ...(installed.length === 0 ? [] : [`installed: ${installed.join(', ')}`]),
    ...(loaded.deliver === undefined ? [] : [deliverLine(loaded)]),
    ...(loaded.issues ?? []).map(issuesLine),
    ...(budget === null ? [] : [`budget: ${usd(budget.nanoUsd)}, ${budget.mode}`]),
    ...(loaded.reconcile === null ? [] : [`reconcile: rows from the ${loaded.reconcile.rows.from}`]),
  ];
}

function poolLine({ size, maxPerSandbox, recycleAfter, recycleAgeMs, onFull, warm }: PlanPool): string {
  const recycled = [
    ...(recycleAfter === null ? [] : [`after ${counted(recycleAfter, 'conversation')}`]),
    ...(recycleAgeMs === null ? [] : [`at the age of ${duration(recycleAgeMs)}`]),
  ];
  const said = [
    `${size} ${size === 1 ? 'sandbox' : 'sandboxes'} with ${counted(maxPerSandbox, 'place')} each`,
    ...(recycled.length === 0 ? [] : [`recycled ${recycled.join(' or ')}`]),
    `when full ${onFull}`,
    ...(warm ? ['warmed'] : []),
  ];
  return `pool: ${said.join(', ')}`;
}

/** Where conversations choose their agents: which, in which version, and how many have it. */
function agentLines(plan: Plan): string[] {
  const items = knownItems(plan);
  const counts = new Map<string, number>();
  for (const { agent } of items) {
    const name =
      agent === undefined ? "the deployment's" : [agent.name, agent.version ?? ''].join(' ').trim();
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  if (items.every(({ agent }) => agent === undefined)) return [];
  return [`agents: ${[...counts].map(([name, count]) => `${name} (${count})`).join(', ')}`];
}

/** With the key of one conversation, so that a person sees the names there will be. */
function deliverLine({ name: job, deliver, items }: Plan): string {
  const pushing = items.filter(({ repository }) => repository !== null);
  const key = pushing[0]?.key ?? '{key}';
  const branch = fillDeliverText(deliver?.branch ?? '', { job, run: '{run}', key });
  const which = deliver?.when === 'always' ? 'whatever there is' : 'what succeeded';
  const pull = deliver?.pullRequest;
  const opened = pull === undefined ? '' : `, each with a ${pull.isDraft ? 'draft of a ' : ''}pull request`;
  return `deliver: ${which} as a branch of ${counted(pushing.length, 'conversation')}, such as ${branch}${opened}`;
}

/** More are in the list below, each with its title in the prompt or the key. */
const ISSUES_NAMED_MAX = 20;

function issuesLine({ repository, host, rows }: PlanIssues): string {
  const named = rows.slice(0, ISSUES_NAMED_MAX).map(({ number }) => `#${number}`);
  const more = rows.length > ISSUES_NAMED_MAX ? ` and ${rows.length - ISSUES_NAMED_MAX} more` : '';
  return `issues: ${rows.length} of ${repository} at ${host}: ${named.join(', ')}${more}`;
}

function listItems(items: readonly PlanItem[]): string[] {
  const hasIssues = items.some(({ issue }) => issue !== undefined);
  const rows = items
    .slice(0, ITEMS_SHOWN_MAX)
    .map((item) => [
      item.key,
      ...(hasIssues ? [item.issue === undefined ? '-' : `#${item.issue.number} ${item.issue.title}`] : []),
      item.model,
      item.repository?.name ?? '-',
      item.verify === null ? '-' : item.verify.command,
      item.prompt.trim(),
    ]);
  const lines = table(
    [
      { title: 'key', widthMax: 40 },
      ...(hasIssues ? [{ title: 'issue', widthMax: 40 }] : []),
      { title: 'model', widthMax: 24 },
      { title: 'repository', widthMax: 30 },
      { title: 'verify', widthMax: 30 },
      { title: 'prompt', widthMax: 50 },
    ],
    rows.map((row) => row.map((cell) => cut(cell, PROMPT_WIDTH))),
  );
  if (items.length > ITEMS_SHOWN_MAX)
    lines.push(`and ${items.length - ITEMS_SHOWN_MAX} more; see --expanded`);
  return lines;
}
