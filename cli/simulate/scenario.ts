/**
 * `parley simulate SCENARIO`: a scenario played, its answer and what its expectations came to.
 * Owns the order of what is printed, and the exit code; must not decide what holds.
 */
import { defined } from '../../dsl/defined.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { writeAnswer } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import {
  expectationRecords,
  countVerdicts,
  verdictLine,
  failureBlocks,
} from '../scenario/expectation-words.ts';
import { loadScenario } from '../scenario/load-scenario.ts';
import { playLoaded } from '../scenario/play-loaded.ts';
import type { Shell } from '../../host/shell.ts';
import { answerFiles } from './answer-files.ts';
import { answerRecords } from './answer-records.ts';
import { answerText, widthOf } from './answer-text.ts';

export interface ScenarioRequest {
  readonly file: string;
  /** Instead of the scenario's own. */
  readonly seed?: number;
  readonly untilMs?: number;
  /** Files to write. */
  readonly trace?: string;
  readonly html?: string;
  readonly json: boolean;
  readonly config?: string;
}

export async function simulateScenario(shell: Shell, request: ScenarioRequest): Promise<ExitCode> {
  const { file, seed, untilMs, trace, html, json, config } = request;
  const { deployment } = await openDeployment(shell, { path: config, startsProxy: false });
  const { scenario, text } = loadScenario(shell, { file, config });
  if (scenario === null) return EXIT.failed;
  const files = answerFiles(shell, { trace, html, json });
  const answer = playLoaded(scenario, deployment, { ...defined({ seed, untilMs }), ...files.extras });
  const { name, startAt } = scenario;
  files.write({ name, answer: answer.plan, startAt, seed: answer.seed });
  for (const { span } of answer.missed)
    shell.stderr.write(
      printable(`${file}:${span.line}:${span.column}: warning: nobody was there for this event\n`),
    );
  const { slotsMax, expectations, seed: played } = answer;
  const verdicts = countVerdicts(expectations);
  const records = [
    ...answerRecords(answer.plan, { startAt, seed: played, slotsMax }),
    ...expectationRecords(expectations, { startAt, seed: played, file }),
  ];
  const blocks = failureBlocks(expectations, { file, text }, startAt);
  const failures = blocks.flatMap((block) => ['', ...block]).map(printable);
  const shown = answerText(answer.plan, { name, startAt, width: widthOf(shell.stdout), slotsMax });
  const lines = [...shown, ...failures, '', verdictLine(verdicts)];
  writeAnswer(shell.stdout, { json }, { records, lines });
  return verdicts.failed > 0 ? EXIT.expectationFailed : EXIT.ok;
}
