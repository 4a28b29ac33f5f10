/**
 * `parley ctl`: steer a run that goes on: pause, drain, resume, set, requeue, cancel.
 * Owns the words, and sends the request to the engine that runs it; must not start one.
 */
import type { RunId } from '../../core/ids.ts';
import { type RunItemRow, type RunRow, unsuccessfulOf } from '../../core/machine/projection.ts';
import { nearestName } from '../../dsl/check/nearest-name.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type HostFlags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { RunRequest } from '../../host/host-port.ts';
import { withEngine } from '../../host/open-deployment.ts';
import { writeAnswer } from '../../host/records.ts';
import { readSettings, userName } from '../run-settings.ts';
import { withRun } from '../open-run.ts';
import type { ServerOptions } from '../server/server-address.ts';
import { noSuchKey } from '../story/near-names.ts';
import type { Shell } from '../../host/shell.ts';

type CtlOptions = ServerOptions & HostFlags;

const ACTIONS = ['pause', 'drain', 'resume', 'set', 'requeue', 'cancel'] as const;
type Action = (typeof ACTIONS)[number];

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('ctl')
    .description('Steer a run that goes on in another process.')
    .argument('<run>', 'id of the run')
    .argument('<action>', ACTIONS.join(', '))
    .argument('[values...]', 'settings of "set", keys of "requeue" and "cancel"')
    .shares('json', 'engine', 'config', 'server')
    .says(
      [
        'pause         nothing new starts until "resume"; the process that runs it stays',
        'drain         nothing new starts; the process ends with the last conversation',
        'resume        starts again; what has failed stays as it is, see "parley resume --class"',
        'set           concurrency=20, rate=30/min, rate=none, budget=5.00',
        'requeue       takes up conversations that have ended, by their keys',
        'cancel        ends the run, or only the conversations named',
      ].join('\n'),
    )
    .says(
      'Exit codes: 0 the engine was told, or the Temporal server keeps it for a worker; 2 there is no such run or\nkey, or the run has ended, 5 no engine runs.',
    )
    .examples(
      'parley ctl first-batch-20261121t043105-9f3c set concurrency=20',
      'parley ctl first-batch-20261121t043105-9f3c requeue tidy/strong',
    )
    .action(
      ends((id: string, action: string, values: readonly string[], options: CtlOptions) =>
        ctl(shell, { id, action: parseAction(action), values }, options),
      ),
    );
}

interface Asked {
  readonly id: string;
  readonly action: Action;
  readonly values: readonly string[];
}

async function ctl(shell: Shell, asked: Asked, options: CtlOptions): Promise<ExitCode> {
  const event = requestOf(shell, asked);
  return await withRun(shell, { id: asked.id, ...options }, async ({ reader, row, from }) => {
    const { runId } = row;
    requireUnfinished(row, asked.action);
    if ('keys' in event) requireKeys(event.keys ?? [], await reader.runItems(runId));
    if (from.kind === 'server') {
      await from.host.tellRun(runId, event);
      return say(shell, asked, options);
    }
    const { port } = from;
    const config = withEngine(from.config, options.engine);
    if (await port.control(config, { runId, event })) return say(shell, asked, options);
    const answer = await port.controlByServer(config, { runId, event });
    if (answer === null) throw nobodyRuns(runId);
    if (answer === 'kept')
      shell.stderr.write(
        'no worker asks for work: the server keeps this until one does; see "parley worker"\n',
      );
    return say(shell, asked, options);
  });
}

function requestOf(shell: Shell, { action, values }: Asked): RunRequest {
  const asked = { requestId: `ctl-${shell.randomHex(16)}`, by: userName(shell) };
  const takesValues = action === 'set' || action === 'requeue' || action === 'cancel';
  if (!takesValues && values.length > 0)
    throw new CliError(`Cannot ${action} "${values[0] ?? ''}": ${action} is about the whole run`);
  switch (action) {
    case 'pause':
      return { type: 'holdRequested', ...asked };
    case 'drain':
      return { type: 'drainRequested', ...asked };
    case 'resume':
      return { type: 'resumeRequested', ...asked, classes: [] };
    case 'set':
      return { type: 'settingsChanged', ...asked, settings: readSettings(values) };
    case 'requeue':
      if (values.length === 0)
        throw new CliError('Cannot requeue: no key is named', {
          remedy: 'list them with "parley status RUN"',
        });
      return { type: 'requeueRequested', ...asked, keys: values };
    case 'cancel':
      return { type: 'cancelRequested', ...asked, ...(values.length === 0 ? {} : { keys: values }) };
  }
}

function parseAction(text: string): Action {
  const action = ACTIONS.find((one) => one === text);
  if (action !== undefined) return action;
  const near = nearestName(text, ACTIONS);
  throw new CliError(`Cannot ${text} a run: there is no such action`, {
    remedy: near === null ? `write ${ACTIONS.join(', ')}` : `did you mean ${near}?`,
  });
}

/** What has ended cannot be steered; conversations that did not succeed can be taken up all the same. */
function requireUnfinished(row: RunRow, action: Action): void {
  const isOpen = unsuccessfulOf(row) > 0;
  if (row.phase !== 'finished' || (action === 'requeue' && isOpen)) return;
  throw new CliError(`Cannot ${VERBS[action]} the run "${row.runId}": it has ended`, {
    remedy: isOpen ? `take up what did not succeed: parley resume ${row.runId}` : 'start another run',
  });
}

const VERBS: Readonly<Record<Action, string>> = {
  pause: 'pause',
  drain: 'drain',
  resume: 'resume',
  set: 'change',
  requeue: 'requeue conversations of',
  cancel: 'cancel',
};

/** Before the request is sent: half of a list would be worse than none of it. */
function requireKeys(keys: readonly string[], items: readonly RunItemRow[]): void {
  const known = items.map(({ key }) => key);
  const unknown = keys.find((key) => !known.includes(key));
  if (unknown !== undefined) throw noSuchKey(unknown, known, { list: 'parley status RUN' });
}

function nobodyRuns(runId: RunId): CliError {
  return new CliError(`Cannot steer the run "${runId}": no engine is running`, {
    remedy: `go on with it: parley resume ${runId}`,
    exitCode: EXIT.unreachable,
  });
}

function say({ stdout }: Shell, { id, action, values }: Asked, options: CtlOptions): ExitCode {
  const text = `the engine was told: ${[action, ...values].join(' ')}; look with: parley watch ${id}`;
  writeAnswer(stdout, options, { records: [{ type: 'ctl', run_id: id, action, values }], lines: [text] });
  return EXIT.ok;
}
