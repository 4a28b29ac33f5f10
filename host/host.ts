/**
 * The host that a command gets: the owner of the data directory, or one that sends requests to its owner.
 * Owns the choice; this folder is the only place that wires real parts together.
 */
import { ParleyError } from '../core/parley-error.ts';
import type { DeploymentConfig } from './config/deployment-config.ts';
import type { Host, HostOptions, HostPort, RunDesk } from './host-port.ts';
import { openClientHost } from './owner/client-host.ts';
import { Closers } from './closers.ts';
import { isDatabaseTaken } from './follow/config-store.ts';
import { isDeskEnough, openDeskHost } from './owner/desk-host.ts';
import { openGuestHost } from './owner/guest-host.ts';
import { openOwnerHost } from './owner/owner-host.ts';
import { withConsole } from './serve/console-url.ts';
import { hosted } from './sandboxes/hosted.ts';
import { withRequiredIsolation } from './sandboxes/required-isolation.ts';
import { openOwnerLink, sendControl } from './owner/owner-link.ts';

export { openReader } from './owner/reader.ts';
export const control: HostPort['control'] = sendControl;
export const controlByServer: HostPort['controlByServer'] = async (config, request) => {
  const { tellByServer } = await import('./owner/server-control.ts');
  return await tellByServer(config, request);
};
export const preflight: HostPort['preflight'] = async (config, plan) => {
  const look = await import('./preflight/preflight.ts');
  return await look.preflight(config, plan);
};

/** @throws as HostPort.openHost says */
export async function openHost(given: DeploymentConfig, options: HostOptions): Promise<Host> {
  const config = hosted(withConsole(given, options));
  if (options.onlyAsks === true)
    return await openWith((closers) => openClientHost(config, { options, closers, locked: null }));
  const openOwner = (): Promise<Host> =>
    openWith((closers) =>
      openOwnerHost(withRequiredIsolation(config, options, surroundings()), options, closers),
    );
  try {
    return await openOwner();
  } catch (locked) {
    if (!(locked instanceof ParleyError) || locked.code !== 'data_directory_locked') throw locked;
    if (options.isWorker === true || isDatabaseTaken(locked)) throw locked;
    switch (config.engine.kind) {
      case 'temporal':
        return await openWith((closers) => openClientHost(config, { options, closers, locked }));
      case 'embedded':
        // Two services would answer for one another's work.
        if (options.application !== undefined) throw locked;
        return await openWith((closers) => openGuestHost(config, { options, closers, locked, openOwner }));
    }
  }
}

/** A living owner of this data directory is called, as always: it has calls that no other process can read yet. */
export async function openDesk(config: DeploymentConfig, options: HostOptions): Promise<RunDesk> {
  if (!isDeskEnough(config)) return await openHost(config, options);
  const owner = await openOwnerLink(config);
  await owner?.close();
  if (owner !== null) return await openHost(config, options);
  return await openWith((closers) => openDeskHost(config, closers));
}

/** What was opened before a failure is closed again. */
async function openWith<Opened>(open: (closers: Closers) => Promise<Opened>): Promise<Opened> {
  const closers = new Closers();
  try {
    return await open(closers);
  } catch (error) {
    // The reason of the failed opening counts, not a failure to close what it has opened.
    await closers.run().catch(() => undefined);
    throw error;
  }
}

function surroundings(): Parameters<typeof withRequiredIsolation>[2] {
  return { env: process.env, isTerminal: process.stderr.isTTY === true };
}
