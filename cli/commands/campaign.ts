/**
 * `parley campaign`: random jobs, policies and faults on the virtual clock, until the time is over or a rule breaks.
 * Owns the flags and the order of what is printed; cases, coverage and shrinking are in simulator/campaign/.
 */
import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { aimName } from '../../simulator/campaign/aims.ts';
import { TABLE_LEGEND } from '../../simulator/campaign/event-table.ts';
import { randomCase } from '../../simulator/campaign/random-case.ts';
import { runCase } from '../../simulator/campaign/run-case.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { Campaign } from '../campaign/campaign.ts';
import { failureLines, failureRecord, shrunkFailure, type Failure } from '../campaign/failure-lines.ts';
import { localPlayer, processPlayer, servePlays, type Player } from '../campaign/player.ts';
import { progressLine, summaryLines, summaryRecord } from '../campaign/summary-lines.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { duration } from '../../core/text/amounts.ts';
import { openRecords } from '../../host/records.ts';
import type { Shell } from '../../host/shell.ts';

interface CampaignFlags {
  readonly minutes?: string;
  readonly runs?: string;
  readonly seed?: string;
  readonly from: string;
  readonly workers?: string;
  readonly untilCovered?: true;
  readonly shrunk?: true;
  readonly table?: true;
  readonly json?: true;
  readonly worker?: true;
}

const MINUTES_DEFAULT = 1;
const MINUTES_MAX = 7 * 24 * 60;
const RUNS_MAX = 10_000_000;
/** Seeds are shown and typed; odd ones repeat their aim far below this. */
const SEED_MAX = 1_000_000_000_000;
const WORKERS_MAX = 256;
const PROGRESS_MS = 5 * SECOND_MS;
/** The first failure of an invariant is shrunk; more of them take minutes and say the same. */
const SHRUNK_MAX = 3;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('campaign')
    .description('Play random jobs, policies and faults on a virtual clock, and check every invariant.')
    .option('--minutes <n>', `time at most (default: ${MINUTES_DEFAULT}, unless --runs is given)`)
    .option('--runs <n>', 'cases at most; alone, those of just so many seeds in their order')
    .option('--from <seed>', 'first seed', '0')
    .option('--workers <n>', 'processes; 0 plays in this one (default: one for each core)')
    .option('--until-covered', 'end as soon as every kind of fault and every pair was reached')
    .option('--seed <n>', 'play one case')
    .option('--shrunk', 'with --seed: shrink the case first, and show its events')
    .option('--table', 'with --seed: show every event')
    .option('--worker', 'play the seeds that another campaign sends (used by the command itself)')
    .option('--json', 'print JSON Lines to standard output')
    .says(
      'Exit codes: 0 nothing broke, 1 an invariant broke or two plays differed, 2 wrong flags, 130 Ctrl-C.',
    )
    .examples(
      'parley campaign --minutes 4',
      'parley campaign --runs 200 --from 1000 --json',
      'parley campaign --seed 4711 --shrunk',
    )
    .action(ends((flags: CampaignFlags) => choose(shell, flags)));
}

async function choose(shell: Shell, flags: CampaignFlags): Promise<ExitCode> {
  if (flags.worker === true) {
    await servePlays();
    return EXIT.ok;
  }
  refuseMixtures(flags);
  if (flags.seed === undefined) return await campaign(shell, flags);
  const seed = readNumber('--seed', flags.seed, SEED_MAX);
  return flags.shrunk === true ? playShrunk(shell, seed, flags) : playOne(shell, seed, flags);
}

/** A flag without effect means that the user meant another call. */
function refuseMixtures({ seed, shrunk, table, runs, minutes, untilCovered }: CampaignFlags): void {
  const given = (pairs: Readonly<Record<string, unknown>>): string | undefined =>
    Object.keys(pairs).find((flag) => pairs[flag] !== undefined);
  const ofOne = given({ '--shrunk': shrunk, '--table': table });
  if (seed === undefined && ofOne !== undefined)
    throw new CliError(`Cannot use ${ofOne} with many cases: it shows one`, {
      remedy: 'name the case with --seed',
    });
  const ofMany = given({ '--runs': runs, '--minutes': minutes, '--until-covered': untilCovered });
  if (seed !== undefined && ofMany !== undefined)
    throw new CliError(`Cannot use ${ofMany} with --seed: that plays one case`, {
      remedy: 'leave one of them out; --from names the first of many seeds',
    });
}

function readNumber(flag: string, text: string, max: number, min = 0): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : null;
  if (value !== null && value >= min && value <= max) return value;
  throw new CliError(`Cannot use ${flag} ${text}: it is no whole number between ${min} and ${max}`);
}

function playOne(shell: Shell, seed: number, { json, table }: CampaignFlags): ExitCode {
  const {
    violations,
    events,
    simulatedMs,
    injected,
    hash,
    table: rows,
  } = runCase({ seed, table: table === true });
  const { aim } = randomCase(seed);
  const aimed = aim === null ? null : aimName(aim);
  if (json === true) {
    openRecords(shell.stdout).write({
      type: 'case',
      seed,
      build: buildName(shell),
      aim: aimed,
      events,
      simulated_ms: simulatedMs,
      faults: injected,
      hash,
      violations,
      ...(table === true ? { table: rows } : {}),
    });
    return violations.length === 0 ? EXIT.ok : EXIT.failed;
  }
  const lines = [
    `seed ${seed}, ${buildName(shell)}`,
    `aim: ${aimed ?? 'none'}`,
    `events: ${events} in ${duration(simulatedMs)} of simulated time; ${injected.length} faults struck`,
    `hash: ${hash}`,
    `violations: ${violations.length}`,
    ...violations.map(({ name, entity, problem }) => `  ${name}: ${entity}: ${problem}`),
    ...(violations.length > 0 ? [`shrink it: parley campaign --seed ${seed} --shrunk`] : []),
    ...(table === true ? ['', ...TABLE_LEGEND, '', ...rows] : []),
  ];
  shell.stdout.write(`${lines.join('\n')}\n`);
  return violations.length === 0 ? EXIT.ok : EXIT.failed;
}

function playShrunk(shell: Shell, seed: number, { json }: CampaignFlags): ExitCode {
  const failure = shrunkFailure(seed);
  if (failure === null)
    throw new CliError(`Cannot shrink seed ${seed}: every invariant holds in it`, {
      remedy: `play it as it is: parley campaign --seed ${seed}`,
    });
  print(shell, failure, json === true);
  return EXIT.failed;
}

function print(shell: Shell, failure: Failure, json: boolean): void {
  const build = buildName(shell);
  if (json) openRecords(shell.stdout).write(failureRecord(failure, build));
  else shell.stdout.write(`\n${failureLines(failure, build).join('\n')}\n`);
}

async function campaign(shell: Shell, flags: CampaignFlags): Promise<ExitCode> {
  const runsMax = flags.runs === undefined ? null : readNumber('--runs', flags.runs, RUNS_MAX, 1);
  const minutes = flags.minutes ?? (runsMax === null ? String(MINUTES_DEFAULT) : null);
  const bounds = {
    from: readNumber('--from', flags.from, SEED_MAX),
    runsMax,
    forMs: minutes === null ? null : readNumber('--minutes', minutes, MINUTES_MAX, 1) * MINUTE_MS,
    untilCovered: flags.untilCovered === true,
    inOrder: minutes === null && flags.untilCovered !== true,
  };
  const players = openPlayers(shell, flags.workers);
  const running = new Campaign({ players, clock: shell.clock, ...bounds });
  const end = { interrupted: false };
  const forget = shell.onInterrupt(() => {
    end.interrupted = true;
    running.stop();
  });
  const stopProgress = showProgress(shell, running);
  try {
    await running.run();
  } finally {
    stopProgress();
    forget();
    for (const player of players) player.close();
  }
  printEnd(shell, running, flags.json === true);
  if (running.tally.failed.length + running.unequal.length > 0) return EXIT.failed;
  return end.interrupted ? EXIT.interrupted : EXIT.ok;
}

function openPlayers(shell: Shell, workers: string | undefined): readonly Player[] {
  const count =
    workers === undefined ? os.availableParallelism() : readNumber('--workers', workers, WORKERS_MAX);
  return count === 0 ? [localPlayer()] : Array.from({ length: count }, () => processPlayer(shell));
}

function showProgress({ stderr, clock }: Shell, running: Campaign): () => void {
  let timer = clock.setTimer(clock.now() + PROGRESS_MS, tick);
  function tick(): void {
    stderr.write(`${progressLine(running)}\n`);
    timer = clock.setTimer(clock.now() + PROGRESS_MS, tick);
  }
  return () => timer.cancel();
}

/** The figures first: shrinking takes a while, and the user may not wait for it. */
function printEnd(shell: Shell, running: Campaign, json: boolean): void {
  if (json) openRecords(shell.stdout).write(summaryRecord(running, buildName(shell)));
  else shell.stdout.write(`${summaryLines(running).join('\n')}\n`);
  const named = new Set<string>();
  for (const { seed, violations } of running.tally.failed) {
    const name = violations[0]?.name ?? '';
    if (named.has(name) || named.size >= SHRUNK_MAX) continue;
    named.add(name);
    shell.stderr.write(`campaign: shrinking seed ${seed}\n`);
    const failure = shrunkFailure(seed);
    if (failure !== null) print(shell, failure, json);
  }
}

/** A repository that does not answer at once is not waited for. */
const GIT_MS = 2_000;

/** As in "commit 1a2b3c4", with "-dirty" behind it when files were changed; or "version 0.1.0". */
function buildName({ programDir, version }: Shell): string {
  try {
    const name = execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], {
      cwd: programDir,
      encoding: 'utf8',
      timeout: GIT_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return name === '' ? `version ${version}` : `commit ${name}`;
  } catch {
    return `version ${version}`;
  }
}
