/**
 * `parley simulate JOB`: one play, a sweep, or a what-if, as the flags say.
 * Owns which of them it is and where the answer of one play goes.
 */
import { START_AT_DEFAULT } from '../../dsl/scenario/start-at.ts';
import { MODELS_DEFAULT, slotsMaxOf } from '../../simulator/models/model-options.ts';
import type { Recording } from '../../simulator/recording/recording.ts';
import { CliError } from '../../host/cli-error.ts';
import { expectLongWork } from '../../host/cold-start.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { InputOptions } from '../job/given-inputs.ts';
import { loadPlan } from '../job/load-plan.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { writeAnswer } from '../../host/records.ts';
import type { Shell } from '../../host/shell.ts';
import { answerFiles } from './answer-files.ts';
import { answerRecords } from './answer-records.ts';
import { answerText, widthOf } from './answer-text.ts';
import { parseChange, parseSweep } from './change.ts';
import { play, SEED_DEFAULT, UNTIL_DEFAULT_MS, type PlayRequest } from './play-request.ts';
import { playable } from './job-play.ts';
import { replayOf } from './replay.ts';
import { sweepJob } from './sweep-job.ts';
import { whatIfJob } from './what-if-job.ts';

export interface JobRequest {
  readonly file: string;
  readonly config: string | undefined;
  readonly seed: number | undefined;
  readonly untilMs: number | undefined;
  readonly seeds: number;
  /** As typed. */
  readonly sweep: readonly string[];
  readonly whatIf: readonly string[];
  /** Null plays the default models. */
  readonly recording: Recording | null;
  readonly trace: string | undefined;
  readonly html: string | undefined;
  readonly json: boolean;
  readonly inputs: InputOptions;
}

/** A play of more items lasts for seconds, in which optimised code pays. */
const QUICK_ITEMS_MAX = 1_000;

export async function simulateJob(shell: Shell, job: JobRequest): Promise<ExitCode> {
  refuseMixtures(job);
  // What was typed wrong is said before anything is read.
  const combinations = job.sweep.length === 0 ? null : parseSweep(job.sweep);
  const changes = job.whatIf.map(parseChange);
  const { deployment } = await openDeployment(shell, { path: job.config, startsProxy: false });
  const whole = await loadPlan(shell, {
    file: job.file,
    config: job.config,
    checksSecrets: false,
    inputs: job.inputs,
  });
  if (whole === null) return EXIT.failed;
  const { plan, leftOut } = playable(whole);
  for (const { key, awaits } of leftOut)
    shell.stderr.write(
      `left out: ${key}, whose conversations are known once ${awaits?.entry ?? ''} has ended\n`,
    );
  const base = { ...MODELS_DEFAULT, pollMs: deployment.pollMs };
  const { recording, json, seeds } = job;
  const played =
    recording === null ? { models: base, replaces: undefined } : replayOf(shell, { recording, plan, base });
  const request: PlayRequest = {
    setup: { plan, policy: deployment },
    ...played,
    seed: job.seed ?? SEED_DEFAULT,
    untilMs: job.untilMs ?? UNTIL_DEFAULT_MS,
  };
  if (combinations !== null) sweepJob(shell, { request, combinations, seeds, json });
  else if (changes.length > 0) whatIfJob(shell, { request, changes, seeds, json });
  else showPlay(shell, request, job);
  return EXIT.ok;
}

/** One question at a time: a file of one play says nothing about many. */
function refuseMixtures({ sweep, whatIf, seeds, trace, html }: JobRequest): void {
  const isMany = sweep.length > 0 || whatIf.length > 0;
  if (sweep.length > 0 && whatIf.length > 0)
    throw new CliError('Cannot simulate: --sweep and --what-if are two questions', {
      remedy: 'ask one after the other',
    });
  if (isMany && (trace !== undefined || html !== undefined))
    throw new CliError('Cannot simulate: --trace and --html show one play, --sweep and --what-if many', {
      remedy: 'leave one of them out',
    });
  if (!isMany && seeds > 1)
    throw new CliError('Cannot simulate: --seeds counts the plays of --sweep or --what-if', {
      remedy: 'name one seed with --seed, or what to sweep',
    });
}

function showPlay(shell: Shell, request: PlayRequest, { trace, html, json }: JobRequest): void {
  if (request.setup.plan.items.length > QUICK_ITEMS_MAX) expectLongWork();
  const files = answerFiles(shell, { trace, html, json });
  const answer = play(request, files.extras);
  const { plan, policy } = request.setup;
  const about = { startAt: START_AT_DEFAULT, seed: request.seed };
  files.write({ name: plan.name, answer, ...about });
  const slotsMax = slotsMaxOf(policy.capacity);
  const lines = answerText(answer, { name: plan.name, ...about, width: widthOf(shell.stdout), slotsMax });
  const records = answerRecords(answer, { ...about, slotsMax });
  writeAnswer(shell.stdout, { json }, { records, lines });
}
