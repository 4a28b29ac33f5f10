/**
 * `parley resume`: go on with a run that was drained, paused, left or killed, and take up what failed for passing reasons.
 * Owns which failures are taken up; everything unfinished goes on by itself as soon as a host is there.
 */
import { Command } from 'commander';
import { FAILURE_CLASSES, type FailureClass } from '../../core/status.ts';
import { CliError } from '../cli-error.ts';
import {
  configOption,
  engineOption,
  examples,
  jsonOption,
  plainOption,
  type CommandContext,
} from '../command-context.ts';
import type { EngineKind } from '../config/deployment-config.ts';
import type { ExitCode } from '../exit-code.ts';
import { noSuchRun, openDeployment } from '../open-deployment.ts';
import { openHostWithView, orClose } from '../open-host.ts';
import { parseRunId } from '../run-id.ts';
import { readSettings, userName } from '../run-settings.ts';
import { attend } from '../run-session.ts';
import type { Shell } from '../shell.ts';

interface ResumeOptions {
  readonly class?: string;
  readonly set?: readonly string[];
  readonly json?: true;
  readonly plain?: true;
  readonly engine?: EngineKind;
  readonly config?: string;
}

/** Reasons that pass by themselves; an agent's own error, or a person's word, does not. */
const CLASSES_DEFAULT: readonly FailureClass[] = ['infra', 'rate_limited', 'quota', 'timeout'];

export function resumeCommand({ shell, finish }: CommandContext): Command {
  return new Command('resume')
    .description('Go on with a run, and take up what failed for passing reasons.')
    .argument('<run>', 'id of the run')
    .option('--class <list>', 'failure classes that are taken up, by commas', CLASSES_DEFAULT.join(','))
    .option('--set <key=value...>', 'settings that change: concurrency, rate, budget')
    .addOption(jsonOption())
    .addOption(plainOption())
    .addOption(engineOption())
    .addOption(configOption())
    .addHelpText('after', `\nFailure classes: ${FAILURE_CLASSES.join(', ')}.`)
    .addHelpText('after', '\nExit codes: those of "parley run".')
    .addHelpText(
      'after',
      examples(
        'parley resume first-batch-20261121t043105-9f3c',
        'parley resume first-batch-20261121t043105-9f3c --class infra,stuck',
      ),
    )
    .action(async (id: string, options: ResumeOptions) => {
      finish(await resume(shell, id, options));
    });
}

async function resume(shell: Shell, id: string, options: ResumeOptions): Promise<ExitCode> {
  const runId = parseRunId(id);
  const classes = parseClasses(options.class ?? '');
  const settings = options.set === undefined ? null : readSettings(options.set);
  const { config: path, engine } = options;
  const config = await openDeployment(shell, { path, startsProxy: true, engine });
  const { host, view } = await openHostWithView(shell, config, options);
  const row = await host.run(runId);
  const plan = row === null ? null : await host.plan(runId);
  if (row === null || plan === null) {
    view.close();
    await host.close();
    throw noSuchRun(id);
  }
  view.launched({
    runId,
    name: plan.name,
    planHash: plan.hash,
    itemCount: plan.items.length,
    results: host.resultsLocation(runId),
  });
  const by = userName(shell);
  const requestId = `resume-${shell.randomHex(16)}`;
  if (settings !== null) {
    const event = { type: 'settingsChanged', requestId: `${requestId}-set`, by, settings } as const;
    await orClose({ host, view }, host.tellRun(runId, event));
  }
  await orClose({ host, view }, host.tellRun(runId, { type: 'resumeRequested', requestId, by, classes }));
  return await attend({ shell, host, runId, plan, view, json: options.json === true });
}

function parseClasses(text: string): readonly FailureClass[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const unknown = words.find((word) => !FAILURE_CLASSES.some((one) => one === word));
  if (unknown === undefined) return words as FailureClass[];
  throw new CliError(`Cannot use --class "${unknown}": there is no such failure class`, {
    remedy: `write ${FAILURE_CLASSES.join(', ')}`,
  });
}
