/**
 * `parley temporal register`: the namespace and the search attributes, made where they are missing.
 * Owns what is printed; a repeat says that there was nothing to do.
 */
import { InvalidArgumentError } from 'commander';
import type { Registered } from '../../temporal/register.ts';
import { formatDuration, parseDuration } from '../../dsl/duration.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { sleep } from '../../runtimes/on-host/wait.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { writeAnswer } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import { numberFrom } from '../parse-port.ts';
import { serverOf, type ServerFlags } from './server-options.ts';

interface RegisterFlags extends ServerFlags {
  readonly retentionDays: number;
  /** Milliseconds. */
  readonly wait?: number;
}

/** A week is enough to read what went wrong on a weekend. */
const RETENTION_DAYS = 7;
/** What a server accepts by default. */
const RETENTION_DAYS_MAX = 365;

export function registerCommand({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('register')
    .summary('make namespace and search attributes')
    .description('Make the namespace, if it is missing, and register the search attributes of Parley.')
    .shares('address', 'namespace')
    .option(
      '--retention-days <n>',
      'how long closed workflows of a new namespace are kept',
      numberFrom(1, RETENTION_DAYS_MAX, 'a number of days'),
      RETENTION_DAYS,
    )
    .option('--wait <duration>', 'try again so long while the server does not answer, as 10m', parseWait)
    .shares('json', 'config')
    .says(
      'Exit codes: 0 registered, 2 the server cannot be used so, 4 it refuses the key, 5 it does not answer.',
    )
    .examples('parley temporal register --address HOST:7233 --namespace parley')
    .action(ends((flags: RegisterFlags) => register(shell, flags)));
}

async function register(shell: Shell, flags: RegisterFlags): Promise<ExitCode> {
  const server = await serverOf(shell, flags);
  const { registerOnServer } = await import('../../temporal/register.ts');
  const attempt = () => registerOnServer({ ...server, retentionDays: flags.retentionDays });
  const done = await whileAway(shell, attempt, flags.wait ?? 0);
  const { address, namespace } = server;
  const { namespaceCreated: namespace_created, searchAttributes: search_attributes } = done;
  writeAnswer(shell.stdout, flags, {
    records: [{ type: 'registered', address, namespace, namespace_created, search_attributes }],
    lines: describe(namespace, flags, done).map(printable),
  });
  return EXIT.ok;
}

/** Between two attempts: a server that starts beside this needs tens of seconds. */
const AGAIN_MS = 3_000;

/** Every attempt that failed is printed with what is left of the wait. @throws as `attempt` */
async function whileAway<Done>(
  { clock, stderr }: Shell,
  attempt: () => Promise<Done>,
  waitMs: number,
): Promise<Done> {
  const untilMs = clock.now() + waitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const leftMs = untilMs - clock.now();
      if (!(error instanceof ParleyError) || error.code !== 'engine_unreachable' || leftMs <= 0) throw error;
      const left = formatDuration(Math.ceil(leftMs / 1_000) * 1_000);
      stderr.write(`${printable(error.message)}; trying again for ${left}\n`);
      await sleep(clock, Math.min(AGAIN_MS, leftMs));
    }
  }
}

function describe(
  namespace: string,
  { retentionDays }: RegisterFlags,
  { namespaceCreated, searchAttributes }: Registered,
): readonly string[] {
  return [
    namespaceCreated
      ? `namespace ${namespace}: made, with a retention of ${retentionDays} days`
      : `namespace ${namespace}: was there`,
    searchAttributes.length === 0
      ? 'search attributes: all were there'
      : `search attributes: registered ${searchAttributes.join(', ')}`,
  ];
}

function parseWait(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null) return ms;
  throw new InvalidArgumentError('Give digits with d, h, m or s, such as 10m.');
}
