/**
 * `parley hosts`: the machines on which sandboxes live, and whether they give out new ones.
 * Owns the listing and the orders; what becomes of a host is decided where sandboxes are placed.
 */
import { instant } from '../../core/text/amounts.ts';
import { CliError } from '../../host/cli-error.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { type JsonRecord, writeAnswer } from '../../host/records.ts';
import type { Shell } from '../../host/shell.ts';
import { printable, table } from '../../host/terminal-text.ts';
import type { LeasedHost } from '../../ports/host-leases.ts';
import type { ServingPeer } from '../../ports/proxy-peers.ts';
import type { Store } from '../../store/open-store.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';

interface HostsOptions extends Flags {
  readonly archiveReleased?: true;
}

export function command({ shell, ends }: CommandContext): CliCommand {
  const sub = (name: string, description: string): CliCommand =>
    new CliCommand(name).description(description).shares('json', 'config');
  const drains = (name: string, description: string, draining: boolean): CliCommand =>
    sub(name, description)
      .argument('<host>', 'name of the host')
      .says('Exit codes: 0 done, 2 there is no such host, 5 the store cannot be read.')
      .action(ends((host: string, options: HostsOptions) => drain(shell, { host, draining, options })));
  return new CliCommand('hosts')
    .description('List the hosts on which sandboxes live, take one out of placement, and give one up.')
    .examples(
      'parley hosts list',
      'parley hosts drain build-7',
      'parley hosts drain build-7 --archive-released',
      'parley hosts undrain build-7',
      'parley hosts give-up build-7',
    )
    .addCommand(
      sub('list', 'List the hosts.')
        .says('Exit codes: 0 listed, 5 the store cannot be read.')
        .action(ends((options: HostsOptions) => list(shell, options))),
    )
    .addCommand(
      drains('drain', 'Place no sandbox on a host any more. What lives there goes on.', true).option(
        '--archive-released',
        'archive and remove what is or will be released there; its conversations can only be read then',
      ),
    )
    .addCommand(drains('undrain', 'Place sandboxes on a host again.', false))
    .addCommand(
      sub('give-up', 'Give up a host whose worker is gone, and all that lives there.')
        .argument('<host>', 'name of the host')
        .says('Exit codes: 0 done, 2 its worker serves or there is no such host, 5 the store cannot be read.')
        .action(ends((host: string, options: HostsOptions) => giveUp(shell, host, options))),
    );
}

async function list(shell: Shell, options: HostsOptions): Promise<ExitCode> {
  const found = await withStore(shell, options, { readOnly: true }, (store) =>
    Promise.all([store.hosts.list(), store.proxyPeers.serving()]),
  );
  const [hosts, processes] = found ?? [[], []];
  const records = [
    ...hosts.map(recordOf),
    ...processes.map(({ kind, name, leads, configuration }) => ({
      ...{ type: 'process', kind, name, leads, configuration },
    })),
  ];
  if (hosts.length === 0 && options.json !== true)
    shell.stderr.write(
      'no hosts: workers on Temporal whose store is PostgreSQL are hosts of their sandboxes\n',
    );
  const between = hosts.length > 0 && processes.length > 0 ? [''] : [];
  const lines = [...tableOf(hosts), ...between, ...processTable(processes)];
  writeAnswer(shell.stdout, options, { records, lines });
  return EXIT.ok;
}

interface Draining {
  readonly host: string;
  readonly draining: boolean;
  readonly options: HostsOptions;
}

async function drain(shell: Shell, { host, draining, options }: Draining): Promise<ExitCode> {
  const changed = await withStore(shell, options, { readOnly: false }, async ({ hosts }) => {
    const archivesReleased = options.archiveReleased === true;
    if (!(await hosts.drain(host, draining, { archivesReleased }))) return null;
    return (await hosts.list()).find(({ name }) => name === host) ?? null;
  });
  if (changed === null)
    throw new CliError(`Cannot change the host "${host}": there is no such host`, {
      remedy: 'list the hosts with "parley hosts list"',
    });
  return say(shell, options, changed, changed.sandboxes);
}

/** Any worker that serves notifies the sandboxes that lived there. One that was given up before is a success. */
async function giveUp(shell: Shell, host: string, options: HostsOptions): Promise<ExitCode> {
  const changed = await withStore(shell, options, { readOnly: false }, async ({ hosts }) => {
    const found = (await hosts.list()).find(({ name }) => name === host);
    if (found === undefined) return null;
    await hosts.giveUp({ name: host, fence: found.fence, silentMs: 0, alsoStopped: true });
    return (await hosts.list()).find(({ name }) => name === host) ?? null;
  });
  if (changed?.ended !== 'lost') {
    const why = changed === null ? 'there is no such host' : 'its worker serves';
    const remedy = changed === null ? 'list the hosts with "parley hosts list"' : 'stop its worker first';
    throw new CliError(`Cannot give up the host "${host}": ${why}`, { remedy });
  }
  return say(shell, options, changed, changed.lost);
}

function say(shell: Shell, options: HostsOptions, host: LeasedHost, count: number): ExitCode {
  const line = `${printable(host.name)}  ${stateOf(host)}, ${count} sandboxes`;
  writeAnswer(shell.stdout, options, { records: [recordOf(host)], lines: [line] });
  return EXIT.ok;
}

/** Null when nothing was ever stored. */
async function withStore<Answer>(
  shell: Shell,
  { config: path }: HostsOptions,
  { readOnly }: { readonly readOnly: boolean },
  work: (store: Pick<Store, 'hosts' | 'proxyPeers'>) => Promise<Answer>,
): Promise<Answer | null> {
  const config = await openDeployment(shell, { path, startsProxy: false });
  const { hasStore, openDeployedStore, readDeployedStore } =
    await import('../../host/follow/config-store.ts');
  if (!hasStore(config)) return null;
  const store = readOnly ? await readDeployedStore(config) : await openDeployedStore(config);
  if (store === null) return null;
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

type HostState = 'live' | 'draining' | 'silent' | 'stopped' | 'lost';

function stateOf({ isLive, draining, ended }: LeasedHost): HostState {
  if (!isLive) return ended ?? 'silent';
  return draining ? 'draining' : 'live';
}

function recordOf(host: LeasedHost): JsonRecord {
  const { name, runtime, capacity, up, sandboxes, lost, labels, relay, version, draining, fence } = host;
  return {
    ...{ type: 'host', name, state: stateOf(host), draining, archives_released: host.archivesReleased },
    ...{ runtime, capacity, up, sandboxes, lost, labels, relay, version, fence },
    ...{ heartbeat_at: host.heartbeatAt, lease_until: host.leaseUntil },
  };
}

function tableOf(hosts: readonly LeasedHost[]): readonly string[] {
  if (hosts.length === 0) return [];
  const columns = [
    { title: 'HOST', widthMax: 40 },
    { title: 'STATE' },
    { title: 'RUNTIME' },
    { title: 'UP', side: 'right' },
    { title: 'SANDBOXES', side: 'right' },
    { title: 'VERSION' },
    { title: 'HEARTBEAT' },
    { title: 'LABELS', widthMax: 60 },
  ] as const;
  return table(
    columns,
    hosts.map((host) => [
      host.name,
      stateOf(host),
      host.runtime,
      `${host.up}/${host.capacity}`,
      String(host.sandboxes),
      host.version,
      instant(host.heartbeatAt),
      Object.entries(host.labels)
        .map(([label, value]) => `${label}=${value}`)
        .join(' '),
    ]),
  );
}

/** What each has of the configuration, once there is one that they share. */
function processTable(processes: readonly ServingPeer[]): readonly string[] {
  if (processes.length === 0) return [];
  const isShared = processes.some(({ configuration: { version, refused } }) => version !== null || refused);
  const columns = [{ title: 'PROCESS' }, { title: 'NAME', widthMax: 60 }, { title: 'LEADS', widthMax: 80 }];
  return table(
    isShared ? [...columns, { title: 'CONFIGURATION', widthMax: 200 }] : columns,
    processes.map(({ kind, name, leads, configuration: { version, refused } }) => {
      const has = version === null ? 'its file' : `version ${version}`;
      const configuration = refused === null ? has : `${has}; ${refused}`;
      return [kind, name, leads.join(', '), ...(isShared ? [configuration] : [])];
    }),
  );
}
