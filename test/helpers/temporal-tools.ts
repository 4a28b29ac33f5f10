/**
 * The servers of Temporal that tests use for real: the CLI's dev server, and the one that skips time.
 * Owns where they are and the settings of a server for tests; a group that needs one is gated by requires.ts.
 */
import { spawnSync } from 'node:child_process';
import { testServerMissing, testServerProgram } from '../../scripts/temporal-tools.js';
import { cachedCli, installedCli } from '../../temporal/dev-server/find-cli.ts';
import type { DynamicConfig } from '../../temporal/dev-server/server-arguments.ts';
import {
  startDevServer,
  type DevServer,
  type DevServerOptions,
} from '../../temporal/dev-server/start-dev-server.ts';

/** Longer than a machine that is busy with other tests takes: a program that is there is never taken for missing. */
export const PROBE_MS = 120_000;

/** What a test must not wait for. */
const FOR_TESTS: DynamicConfig = {
  // By default an id is free again a second after its last start, and so is a continued run.
  'history.workflowIdReuseMinimalInterval': '0s',
  // The limits of a shared server slow a load down that is meant here.
  'frontend.namespaceRPS': 20_000,
  'frontend.rps': 20_000,
};

const HOW = 'install it with "node scripts/temporal-tools.js"';

/** Why there is no CLI, as a sentence; null when it works. Nothing is fetched. */
export function temporalCliMissing(): string | null {
  const cli = findInstalled();
  if (cli === null) return `the Temporal CLI is not installed; ${HOW}`;
  const result = spawnSync(cli, ['--version'], { encoding: 'utf8', timeout: PROBE_MS });
  return result.status === 0 ? null : `the Temporal CLI does not work here: ${result.stderr.trim()}`;
}

/** Why time cannot be skipped here, as a sentence; null when it can. */
export function timeSkippingServerMissing(): string | null {
  const reason = testServerMissing(process.env);
  return reason === null ? null : `${reason}; ${HOW}`;
}

/** The program for `createTimeSkipping({ server: { executable: { type: 'existing-path', path } } })`. */
export function requireTestServer(): string {
  const reason = timeSkippingServerMissing();
  if (reason !== null) throw new Error(`Cannot skip time: ${reason}`);
  return testServerProgram(process.env);
}

/** The path of the CLI. */
export function requireTemporalCli(): string {
  const cli = findInstalled();
  if (cli === null) throw new Error(`Cannot start a Temporal server: ${temporalCliMissing() ?? ''}`);
  return cli;
}

/**
 * A dev server with settings for tests, on a free port; in memory unless a file is named.
 * It starts in half a second: one for each file of tests. Stop it in `afterAll` or `onTestFinished`.
 */
export function startServerForTests(
  options: Partial<Omit<DevServerOptions, 'env'>> = {},
): Promise<DevServer> {
  return startDevServer({
    namespace: 'default',
    ...options,
    dynamicConfig: { ...FOR_TESTS, ...options.dynamicConfig },
    env: { ...process.env, PARLEY_TEMPORAL_CLI: requireTemporalCli() },
  });
}

function findInstalled(): string | null {
  return installedCli(process.env) ?? cachedCli(process.env);
}
