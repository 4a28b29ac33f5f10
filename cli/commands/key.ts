/**
 * `parley key`: issue, list and revoke keys of the application API (D5), also beside a running service.
 * Owns what is printed: the text of a key once, when it is made.
 */
import { Argument, Option } from 'commander';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { writeAnswer } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import type { FirstKeyOutcome } from '../../host/serve/first-key.ts';
import type { ApiKey, ApiKeyStore } from '../../ports/api-keys.ts';
import { userId } from '../../core/ids.ts';
import { instantFromText } from '../../core/text/instant-text.ts';
import type { Store } from '../../store/open-store.ts';

interface KeyOptions extends Flags {
  readonly user: string;
  readonly scope: 'admin' | 'user';
  readonly name?: string;
  readonly expires?: string;
  readonly secret?: string;
  readonly namespace?: string;
  readonly secretOnly?: true;
}

const USER = 'local';
const ACTIONS = { create, first, list, revoke } as const;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('key')
    .description('Issue, list and revoke keys of the application API.')
    .addArgument(new Argument('<action>', 'what to do').choices(Object.keys(ACTIONS)))
    .argument('[id]', 'the key to revoke')
    .option('--user <id>', 'whose keys', USER)
    .addOption(
      new Option('--scope <scope>', 'what a new one opens').choices(['admin', 'user']).default('user'),
    )
    .option('--name <text>', 'what a new one is for')
    .option('--expires <instant>', 'when a new one ends, in ISO 8601')
    .option('--secret <name>', 'Secret of the cluster that keeps the first one')
    .option('--namespace <name>', 'where that Secret is (default: where this pod is)')
    .option('--secret-only', 'open no store: whoever serves with PARLEY_FIRST_API_KEY issues the first')
    .shares('json', 'config')
    .examples(
      'parley key create --scope admin --name console',
      'parley key first --secret parley-first-key',
      'parley key list',
      'parley key revoke 3',
    )
    .action(
      ends((action: keyof typeof ACTIONS, id: string | undefined, options: KeyOptions) =>
        ACTIONS[action](shell, options, id ?? ''),
      ),
    );
}

async function create(shell: Shell, options: KeyOptions): Promise<ExitCode> {
  const expiresAt = options.expires === undefined ? null : instantFromText(options.expires);
  if (expiresAt === null && options.expires !== undefined)
    throw new CliError(`Cannot read the instant "${options.expires}"`, { remedy: 'write it in ISO 8601' });
  return await withStore(shell, options, async ({ apiKeys }) => {
    const { issueKey } = await import('../../api/keys/issue-key.ts');
    const { key, record } = await issueKey(apiKeys, {
      userId: userId(options.user),
      name: options.name ?? null,
      scope: options.scope,
      now: shell.clock.now(),
      notBefore: null,
      expiresAt,
    });
    print(shell, options, { ...recordOf(record), key }, `${record.keyId}  ${key}`);
  });
}

/** The text of the key goes into the Secret and nowhere else. */
async function first(shell: Shell, options: KeyOptions): Promise<ExitCode> {
  const { secret, secretOnly } = options;
  if (secret === undefined)
    throw new CliError('Cannot make the first key: no Secret is named that keeps it', {
      remedy: 'add --secret NAME; outside a cluster, "parley key create --scope admin" prints one',
    });
  const config = await openDeployment(shell, { path: options.config, startsProxy: false });
  const { kubernetesCluster, ownNamespace } = await import('../../runtimes/kubernetes/cluster.ts');
  const namespace = options.namespace ?? ownNamespace();
  if (namespace === null)
    throw new CliError('Cannot make the first key: this is no pod, and no namespace is named', {
      remedy: 'add --namespace NAME',
    });
  const { makeFirstKey } = await import('../../host/serve/first-key.ts');
  const cluster = kubernetesCluster({ ...config.kubernetes, namespace, clock: shell.clock });
  const make = async (keys: ApiKeyStore | null): Promise<void> => {
    const outcome = await makeFirstKey({ cluster, secret, keys, now: shell.clock.now() });
    print(shell, options, { outcome, secret, namespace }, `${secret}: ${OUTCOMES[outcome]}`);
  };
  if (secretOnly !== true) return await withStore(shell, options, ({ apiKeys }) => make(apiKeys));
  await make(null);
  return EXIT.ok;
}

const OUTCOMES: Readonly<Record<FirstKeyOutcome, string>> = {
  made: 'made, and its key is issued',
  secret_made: 'made; its key is issued when the service starts',
  issued: 'was there, and its key is issued now',
  secret_there: 'was there; nothing is changed',
  keys_there: 'not made: keys are issued already; "parley key create" issues another',
};

async function list(shell: Shell, options: KeyOptions): Promise<ExitCode> {
  return await withStore(shell, options, async ({ apiKeys }) => {
    const found = await apiKeys.list(userId(options.user));
    writeAnswer(shell.stdout, options, {
      records: found.map((key) => ({ type: 'key', ...recordOf(key) })),
      lines: found.map(({ keyId, scope, name }) => printable(`${keyId}  ${scope}  ${name ?? ''}`).trimEnd()),
    });
  });
}

async function revoke(shell: Shell, options: KeyOptions, id: string): Promise<ExitCode> {
  return await withStore(shell, options, async ({ apiKeys }) => {
    const isThere = /^\d{1,15}$/.test(id) && (await apiKeys.remove(userId(options.user), Number(id)));
    if (!isThere)
      throw new CliError(`Cannot find the key "${id}"`, { remedy: 'list the keys with "parley key list"' });
    print(shell, options, { id: Number(id), revoked: true }, `revoked ${id}`);
  });
}

function print(shell: Shell, { json }: KeyOptions, record: object, line: string): void {
  writeAnswer(shell.stdout, { json }, { records: [{ type: 'key', ...record }], lines: [printable(line)] });
}

function recordOf(key: ApiKey): object {
  const { keyId: id, userId: user, name, scope, createdAt, expiresAt, lastUsedAt } = key;
  const at = { created_at: createdAt, expires_at: expiresAt, last_used_at: lastUsedAt };
  return { id, user, name, scope, ...at };
}

/** Beside a running service, too: the store takes several processes. */
async function withStore(
  shell: Shell,
  { config: file }: KeyOptions,
  work: (store: Store) => Promise<void>,
): Promise<ExitCode> {
  const config = await openDeployment(shell, { path: file, startsProxy: false });
  const { openDeployedStore } = await import('../../host/follow/config-store.ts');
  const store = await openDeployedStore(config);
  try {
    await work(store);
    return EXIT.ok;
  } finally {
    await store.close();
  }
}
