/**
 * `parley worker`: carries out what the engine on Temporal orders, until a signal ends it.
 * Owns the end: once lets what runs end, twice ends at once; the work itself belongs to the host.
 */
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type HostFlags } from '../command-context.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { Host } from '../../host/host-port.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { endSignals, type EndSignals } from '../end-signals.ts';
import { parsePort } from '../parse-port.ts';
import type { Shell } from '../../host/shell.ts';
import { type HealthServer, startHealthServer } from '../../host/worker/health-server.ts';
import { workerView, type WorkerView } from '../../host/worker/worker-view.ts';

interface WorkerOptions extends HostFlags {
  readonly healthPort?: number;
  readonly healthHost: string;
}

const LOOPBACK = '127.0.0.1';

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('worker')
    .description('Carry out what the engine on Temporal orders, in the foreground.')
    .option('--health-port <n>', 'answer /healthz and /readyz; 0 takes a free port', parsePort)
    .option('--health-host <address>', 'address of these', LOOPBACK)
    .shares('engine', 'json', 'config')
    .says(
      'Ctrl-C or SIGTERM once takes nothing new and lets what runs end for ten seconds; twice ends at once.' +
        '\nWhat is cut off begins again on the next worker.',
    )
    .says(
      'Exit codes: 0 ended by a signal, 2 it cannot be started so, 4 the server refuses the key,\n5 the server cannot be reached or another process owns the data directory, 130 ended at once.',
    )
    .examples('parley worker', 'parley worker --health-port 8080 --json')
    .action(ends((options: WorkerOptions) => worker(shell, options)));
}

async function worker(shell: Shell, options: WorkerOptions): Promise<ExitCode> {
  const { config: path, engine } = options;
  const config = await openDeployment(shell, { path, startsProxy: true, engine });
  refuseWithoutServer(config);
  const view = workerView(shell, options.json === true);
  const life = endSignals(shell, () =>
    view.notice('stopping: nothing new is taken, what runs may end; a second signal ends it at once'),
  );
  try {
    const port = await shell.hostPort();
    const opening = port.openHost(config, { onNotice: (text) => view.notice(text), isWorker: true });
    const host = await Promise.race([opening, life.cutOff]);
    if (host === null) return EXIT.interrupted;
    return await serve({ host, view, life, options });
  } finally {
    life.stopListening();
  }
}

function refuseWithoutServer({ engine }: DeploymentConfig): void {
  if (engine.kind === 'embedded') {
    throw new CliError('Cannot start a worker: the embedded engine has none', {
      remedy: 'set engine.kind to temporal, or add --engine temporal',
    });
  }
  if (engine.temporal.address !== null) return;
  throw new CliError('Cannot start a worker: no Temporal server is named', {
    remedy:
      'set engine.address or TEMPORAL_ADDRESS; "parley temporal dev" starts a server and says where it listens',
  });
}

interface Serving {
  readonly host: Host;
  readonly view: WorkerView;
  readonly life: EndSignals;
  readonly options: WorkerOptions;
}

/** @throws why the engine cannot go on */
async function serve({ host, view, life, options }: Serving): Promise<ExitCode> {
  let isHealthy = true;
  host.ended.catch(() => (isHealthy = false));
  let health: HealthServer | null = null;
  try {
    health = await openHealth(options, {
      isHealthy: () => isHealthy,
      isReady: async () => isHealthy && !life.isAsked && (await host.isReady()),
    });
    if (host.engine.kind === 'temporal') view.serving(host.engine, health?.url ?? null);
    await Promise.race([life.asked, host.ended]);
    return (await Promise.race([host.close(), life.cutOff])) === null ? EXIT.interrupted : EXIT.ok;
  } catch (error) {
    await Promise.race([host.close().catch(() => undefined), life.cutOff]);
    throw error;
  } finally {
    await health?.close();
  }
}

async function openHealth(
  { healthPort, healthHost }: WorkerOptions,
  answers: Pick<Parameters<typeof startHealthServer>[0], 'isHealthy' | 'isReady'>,
): Promise<HealthServer | null> {
  if (healthPort === undefined) return null;
  return await startHealthServer({ host: healthHost, port: healthPort, ...answers });
}
