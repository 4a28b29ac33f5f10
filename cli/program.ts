/**
 * The list of commands, and how one of them is found, loaded and run.
 * Owns the top of the command line; a command's file is loaded only when that command is typed.
 */
import { Command, CommanderError } from 'commander';
import type { ErrorCode } from '../core/error-catalogue.ts';
import { asParleyError } from '../core/parley-error.ts';
import { CliError } from '../host/cli-error.ts';
import { openRecords } from '../host/records.ts';
import { printable } from '../host/terminal-text.ts';
import type { CommandContext } from './command-context.ts';
import { writeCrashReport } from './crash-report.ts';
import { remedyOfMissing } from './missing-part.ts';
import { EXIT, exitCodeOfError, type ExitCode } from '../host/exit-code.ts';
import type { Shell } from '../host/shell.ts';

interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<{ command(context: CommandContext): Command }>;
}

const COMMANDS: readonly CommandEntry[] = [
  entry('init', 'write a first job.yaml and parley.yaml', () => import('./commands/init.ts')),
  entry('validate', 'check job files', () => import('./commands/validate.ts')),
  entry('fmt', 'lay out job files', () => import('./commands/fmt.ts')),
  entry('plan', 'show what a run would do', () => import('./commands/plan.ts')),
  entry('simulate', 'play a job on a virtual clock', () => import('./commands/simulate.ts')),
  entry(
    'campaign',
    'hunt for broken rules with random jobs and faults',
    () => import('./commands/campaign.ts'),
  ),
  entry('test', 'play scenarios as tests of a policy', () => import('./commands/test.ts')),
  entry('graph', 'draw the stages of a job', () => import('./commands/graph.ts')),
  entry('run', 'run a job to its report', () => import('./commands/run.ts')),
  entry('status', 'show runs', () => import('./commands/status.ts')),
  entry('watch', 'show a run while it goes on', () => import('./commands/watch.ts')),
  entry('show', 'show what came of a conversation', () => import('./commands/show.ts')),
  entry('open', 'open the report of a run', () => import('./commands/open.ts')),
  entry('logs', 'print transcripts', () => import('./commands/logs.ts')),
  entry('resume', 'go on with a run', () => import('./commands/resume.ts')),
  entry('ctl', 'steer a run that goes on', () => import('./commands/ctl.ts')),
  entry('wait', 'wait for a run', () => import('./commands/wait.ts')),
  entry('cancel', 'end a run', () => import('./commands/cancel.ts')),
  entry('collect', 'find, or complete, the results', () => import('./commands/collect.ts')),
  entry('archive', 'list and check archives of removed sandboxes', () => import('./commands/archive.ts')),
  entry('reconcile', 'join spend with conversations', () => import('./commands/reconcile.ts')),
  entry('apply', 'apply one result to a checkout', () => import('./commands/apply.ts')),
  entry('export', 'print a run as rows for other programs', () => import('./commands/export.ts')),
  entry('report', 'write the reports anew', () => import('./commands/report.ts')),
  entry('worker', 'carry out runs on Temporal', () => import('./commands/worker.ts')),
  entry('serve', 'serve the application API', () => import('./commands/serve.ts')),
  entry('mcp', 'serve tools for other agents', () => import('./commands/mcp.ts')),
  entry('key', 'issue and revoke API keys', () => import('./commands/key.ts')),
  entry('agent', 'install agents for sandboxes', () => import('./commands/agent.ts')),
  entry('image', 'build images of sandboxes', () => import('./commands/image.ts')),
  entry('doctor', 'check this machine', () => import('./commands/doctor.ts')),
  entry('config', 'check or explain the deployment', () => import('./commands/config.ts')),
  entry('schema', 'print a JSON Schema, or explain a key', () => import('./commands/schema.ts')),
  entry('explain', 'explain a code', () => import('./commands/explain.ts')),
  entry('proxy', 'serve models in front of a gateway', () => import('./commands/proxy.ts')),
  entry('agent-server', 'run the Agent Server alone', () => import('./commands/agent-server.ts')),
  entry('hosts', 'show the hosts of sandboxes, and drain one', () => import('./commands/hosts.ts')),
  entry('temporal', 'run or prepare a Temporal server', () => import('./commands/temporal.ts')),
  entry(
    'codec-server',
    'decrypt payloads for the web UI of Temporal',
    () => import('./commands/codec-server.ts'),
  ),
  entry('scripted-gateway', 'run the stand-in for a vendor', () => import('./commands/scripted-gateway.ts')),
  entry('completion', 'complete commands and flags in a shell', async () => {
    const { commandWith } = await import('./commands/completion.ts');
    return { command: commandWith(definitions) };
  }),
];

/** What every command takes, as its own definition says. */
async function definitions(): Promise<readonly Command[]> {
  // Only the definition of each command is read: none of them is run.
  const context = { ends: () => () => undefined } as unknown as CommandContext;
  const commands: Command[] = [];
  for (const one of COMMANDS) commands.push((await one.load()).command(context).summary(one.summary));
  return commands;
}

function entry(name: string, summary: string, load: CommandEntry['load']): CommandEntry {
  return { name, summary, load };
}

export const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => name);

/** Runs one command line, without the name of the program; resolves with the exit code and never throws. */
export async function runCli(argv: readonly string[], shell: Shell): Promise<number> {
  const args = withoutHelpWord(argv);
  const command = args.find((arg) => !arg.startsWith('-')) ?? '';
  try {
    return await parse(args, command, shell);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return endWithError(error, { shell, command, json: args.includes('--json') });
  }
}

/** `parley help run` is `parley run --help`. */
function withoutHelpWord(argv: readonly string[]): readonly string[] {
  if (argv[0] !== 'help') return argv;
  return argv.length === 1 ? ['--help'] : [...argv.slice(1), '--help'];
}

async function parse(args: readonly string[], name: string, shell: Shell): Promise<number> {
  const end: { code: number } = { code: EXIT.ok };
  const program = topLevel(shell, await versionFor(args, shell));
  const chosen = COMMANDS.find((one) => one.name === name);
  for (const one of COMMANDS) {
    if (one !== chosen)
      program.addCommand(new Command(one.name).summary(one.summary).description(one.summary));
    else {
      const loaded = await one.load();
      const context: CommandContext = {
        shell,
        ends:
          (work) =>
          async (...args) =>
            void (end.code = await work(...args)),
      };
      const command = loaded.command(context).summary(one.summary).copyInheritedSettings(program);
      for (const below of command.commands) below.copyInheritedSettings(command);
      program.addCommand(command);
    }
  }
  if (args.length === 0) program.help({ error: true });
  await program.parseAsync(args, { from: 'user' });
  return end.code;
}

/** Commit and build are read only for `--version`. */
async function versionFor([first]: readonly string[], { version, programDir }: Shell): Promise<string> {
  if (first !== '--version') return version;
  return (await import('./version-text.ts')).versionText(version, programDir);
}

function topLevel(shell: Shell, version: string): Command {
  return new Command()
    .name('parley')
    .description(
      'Runs coding-agent conversations in sandboxes, durably, and accounts for every micro-dollar.',
    )
    .version(version, '--version', 'print the version, the commit and the build')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void shell.stdout.write(text),
      writeErr: (text) => void shell.stderr.write(text),
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
    .showHelpAfterError('Try --help.')
    .addHelpText('after', '\nStart with "parley init", or read docs/cli.md. Every command has --help.');
}

/** Fixed, so that help is the same text everywhere. */
const HELP_WIDTH = 100;

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly remedy: string | null;
  readonly exitCode: ExitCode;
}

/** Prints the failure to standard error, with `json` also as a record; returns the exit code. */
export function endWithError(
  error: unknown,
  context: { readonly shell: Shell; readonly command: string; readonly json: boolean },
): ExitCode {
  const failure = failureOf(error, context);
  const { stdout, stderr } = context.shell;
  if (context.json) {
    const { code, message, remedy, exitCode } = failure;
    openRecords(stdout).write({ type: 'error', code, message, remedy, exit_code: exitCode });
  }
  const remedy = failure.remedy === null ? '' : `  = ${failure.remedy}\n`;
  stderr.write(`parley: ${printable(failure.message)}\n${remedy}`);
  return failure.exitCode;
}

function failureOf(error: unknown, context: { readonly shell: Shell; readonly command: string }): Failure {
  if (error instanceof CliError) {
    return { code: 'usage', message: error.message, remedy: error.remedy, exitCode: error.exitCode };
  }
  const told = asParleyError(error);
  const exitCode = exitCodeOfError(told.code);
  if (exitCode !== EXIT.internal) {
    const { code, message } = told;
    const remedy = remedyOfMissing(told, () => context.shell.programDir) ?? told.remedy ?? remedyOf(code);
    return { code, message, remedy, exitCode };
  }
  const report = writeCrashReport(error, context);
  const message = 'Cannot go on: this is a bug in Parley';
  return { code: 'internal', message, remedy: `the report is ${report}`, exitCode: EXIT.internal };
}

function remedyOf(code: ErrorCode): string {
  switch (code) {
    case 'data_directory_locked':
      return 'look at it with "parley status", stop a run with "parley cancel", or name another store.path';
    case 'config_invalid':
      return 'check it with "parley config check"';
    case 'export_unavailable':
      return 'give the rows as a file: parley reconcile RUN --rows FILE';
    default:
      return `parley explain ${code} tells more`;
  }
}
