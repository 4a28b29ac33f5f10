/**
 * `parley simulate`: what a job would do, on a virtual clock; nothing is run.
 * Owns the printed form of the answer; rules are those of core/, the world is a model with named figures.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { ParleyError } from '../../core/parley-error.ts';
import { DAY_MS } from '../../core/time.ts';
import { parseDuration } from '../../dsl/duration.ts';
import { gantt, LEGEND } from '../../simulator/gantt.ts';
import { MODELS_DEFAULT } from '../../simulator/models/model-options.ts';
import { simulatePlan, type PlanAnswer, type SimulatedConversation } from '../../simulator/simulate-plan.ts';
import { CliError } from '../cli-error.ts';
import { configOption, examples, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { reasonOf } from '../job-file.ts';
import { loadPlan } from '../load-plan.ts';
import { openDeployment } from '../open-deployment.ts';
import { duration, usd } from '../print/amounts.ts';
import { openRecords } from '../print/records.ts';
import { printable } from '../print/terminal-text.ts';
import type { Shell } from '../shell.ts';

interface SimulateOptions {
  readonly seed: string;
  readonly until: string;
  readonly trace?: string;
  readonly json?: true;
  readonly config?: string;
}

/** Every simulation begins here, so that the same seed prints the same text on any day: 2026-01-01 UTC. */
const START_AT = 1_767_225_600_000;
/** Sandboxes that wait for their deletion are of interest for weeks; a longer look only costs time. */
const UNTIL_MAX_MS = 3_650 * DAY_MS;
const WIDTH_DEFAULT = 100;
/** A longer list is for --json. */
const CONVERSATIONS_SHOWN_MAX = 50;

export function simulateCommand({ shell, finish }: CommandContext): Command {
  return new Command('simulate')
    .description(
      'Play a job on a virtual clock: when, on how many sandboxes, at what cost, who meets a limit.',
    )
    .argument('<file>', 'job file, or a saved plan')
    .option('--seed <n>', 'the same seed gives the same answer', '1')
    .option('--until <time>', 'virtual time at most, as in "30d"', '30d')
    .option('--trace <file>', 'write every step as one JSON line')
    .option('--json', 'print JSON Lines to standard output')
    .addOption(configOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 simulated, 1 the job has errors, 2 a file cannot be read or written.',
    )
    .addHelpText(
      'after',
      examples(
        'parley simulate job.yaml',
        'parley simulate job.yaml --seed 7 --until 2d --trace trace.jsonl',
      ),
    )
    .action(async (file: string, options: SimulateOptions) => {
      finish(await simulate(shell, file, options));
    });
}

async function simulate(shell: Shell, file: string, options: SimulateOptions): Promise<ExitCode> {
  const seed = readSeed(options.seed);
  const untilMs = readUntil(options.until);
  const { deployment } = await openDeployment(shell, { path: options.config, startsProxy: false });
  const plan = loadPlan(shell, { file, config: options.config, checksSecrets: false });
  if (plan === null) return EXIT.failed;
  const lines: string[] = [];
  const answer = simulatePlan({
    plan,
    policy: deployment,
    models: { ...MODELS_DEFAULT, pollMs: deployment.pollMs },
    seed,
    startAt: START_AT,
    untilMs,
    checks: true,
    ...(options.trace === undefined ? {} : { onTraceLine: (line: string) => void lines.push(line) }),
  });
  refuseBroken(answer);
  if (options.trace !== undefined) writeTrace(shell, options.trace, lines);
  if (options.json === true) printRecords(shell, answer, seed);
  else
    shell.stdout.write(`${describe(answer, plan.name, shell.stdout.columns ?? WIDTH_DEFAULT).join('\n')}\n`);
  return EXIT.ok;
}

function readSeed(text: string): number {
  const seed = /^\d{1,15}$/.test(text) ? Number(text) : null;
  if (seed !== null) return seed;
  throw new CliError(`Cannot use the seed "${text}": it is no whole number of 0 or more`);
}

function readUntil(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0 && ms <= UNTIL_MAX_MS) return ms;
  throw new CliError(`Cannot simulate until "${text}": it is no time between 1s and 3650d`, {
    remedy: 'write days, hours, minutes, seconds, as in "2d12h"',
  });
}

/** A rule that does not hold is a bug of ours, and what was counted under it is worth nothing. */
function refuseBroken({ violations: [first] }: PlanAnswer): void {
  if (first === undefined) return;
  throw new ParleyError(
    'internal',
    `Cannot trust the simulation: ${first.name}: ${first.entity}: ${first.problem}`,
  );
}

function writeTrace({ cwd, stderr }: Shell, file: string, lines: readonly string[]): void {
  try {
    writeFileSync(path.resolve(cwd, file), lines.map((line) => `${line}\n`).join(''));
    stderr.write(`trace written to ${printable(file)}\n`);
  } catch (error) {
    throw new CliError(`Cannot write the trace to "${file}": ${reasonOf(error)}`);
  }
}

function describe(answer: PlanAnswer, name: string, width: number): string[] {
  const { conversations, phase, reason, makespanMs, endedAt } = answer;
  const shown = conversations.slice(0, CONVERSATIONS_SHOWN_MAX);
  const until = makespanMs === null ? endedAt : START_AT + makespanMs;
  const more = conversations.length - shown.length;
  const held = reason === null ? phase : `${phase}, ${reason}`;
  return [
    `${name}: ${conversations.length} ${conversations.length === 1 ? 'conversation' : 'conversations'}, simulated; ${held}`,
    '',
    ...gantt({ conversations: shown, from: START_AT, until, width }),
    ...(more > 0 ? [`and ${more} more; see --json`] : []),
    LEGEND,
    '',
    `makespan: ${makespanMs === null ? 'not all have ended' : duration(makespanMs)}`,
    `ended: ${countOutcomes(conversations)}`,
    `cost: ${usd(answer.costNanoUsd)}`,
    `sandboxes at once: ${answer.sandboxesPeak} at most, first after ${duration(answer.sandboxesPeakAt - START_AT)}`,
    ...metLimits(conversations),
    `steps: ${answer.steps}, hash ${answer.hash}`,
  ].map(printable);
}

function countOutcomes(conversations: readonly SimulatedConversation[]): string {
  const counts = new Map<string, number>();
  for (const { outcome } of conversations)
    counts.set(outcome ?? 'not ended', (counts.get(outcome ?? 'not ended') ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
}

function metLimits(conversations: readonly SimulatedConversation[]): string[] {
  const meeting = conversations.filter(({ met }) => met.length > 0);
  if (meeting.length === 0) return ['limits met: none'];
  const rows = meeting.slice(0, CONVERSATIONS_SHOWN_MAX).map(({ key, met }) => `  ${key}: ${met.join(', ')}`);
  const more = meeting.length - rows.length;
  return [
    `limits met by ${meeting.length}:`,
    ...rows,
    ...(more > 0 ? [`  and ${more} more; see --json`] : []),
  ];
}

function printRecords({ stdout }: Shell, answer: PlanAnswer, seed: number): void {
  const records = openRecords(stdout);
  for (const { key, attempts, outcome, detail, costNanoUsd, met, stretches } of answer.conversations) {
    const spans = stretches.map(({ from, as }) => ({ from_ms: from - START_AT, as }));
    records.write({
      type: 'simulated',
      key,
      attempts,
      outcome,
      detail,
      cost_nano_usd: costNanoUsd,
      met,
      stretches: spans,
    });
  }
  records.write({
    type: 'simulation',
    seed,
    phase: answer.phase,
    reason: answer.reason,
    makespan_ms: answer.makespanMs,
    cost_nano_usd: answer.costNanoUsd,
    sandboxes_peak: answer.sandboxesPeak,
    sandboxes_peak_at_ms: answer.sandboxesPeakAt - START_AT,
    steps: answer.steps,
    hash: answer.hash,
  });
}
