/**
 * The Temporal server of a host: the one that is configured, else one that is started for as long as the host lives.
 * Owns that two servers never share a database; must not decide what a user reads beyond a notice.
 */
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ParleyError } from '../../core/parley-error.ts';
import { processMark } from '../../store/engine/process-identity.ts';
import type { TemporalServer } from '../../temporal/server-address.ts';
import type { TemporalConfig } from '../config/deployment-config.ts';
import { readEngineNote, writeEngineNote, type EngineNote } from './engine-note.ts';
import type { EngineParts } from './host-engine.ts';

/** A server whose owner was killed is ended by its guard: first with SIGTERM, after ten seconds with SIGKILL. */
const EARLIER_END_MS_MAX = 15_000;
const EARLIER_POLL_MS = 50;
/** One that was killed while it started left no process number; it ends well within this time. */
const UNKNOWN_END_MS = 2_000;

type ServerParts = Pick<EngineParts, 'config' | 'places' | 'env' | 'closers' | 'onNotice' | 'onFailure'>;

/** @throws ParleyError engine_unreachable, engine_misconfigured */
export async function serverOf(parts: ServerParts): Promise<TemporalServer> {
  const settings = parts.config.engine.temporal;
  const { address, namespace, queue } = settings;
  if (address === null) return await ownServer(parts);
  writeEngineNote(parts.places, { address, namespace, queue, server: null });
  return namedServer(settings, address);
}

export function namedServer({ namespace, tls, apiKey }: TemporalConfig, address: string): TemporalServer {
  return {
    address,
    namespace,
    ...(tls === null ? {} : { tls }),
    ...(apiKey === null ? {} : { apiKey }),
  };
}

async function ownServer(parts: ServerParts): Promise<TemporalServer> {
  const { places, env, closers, onNotice, onFailure } = parts;
  const { namespace, queue } = parts.config.engine.temporal;
  const earlier = readEngineNote(places);
  // From here on no process takes the earlier address for ours, and the next owner still has the record of that server.
  writeEngineNote(places, { address: null, namespace, queue, server: earlier?.server ?? null });
  await hasEnded(earlier);
  const { startDevServer } = await import('../../temporal/dev-server/start-dev-server.ts');
  const server = await startDevServer({ env, namespace, databaseFile: places.temporalDatabase });
  closers.add(() => server.stop());
  void server.ended.then(({ stopped, lastLine }) => {
    if (stopped) return;
    const because = lastLine === null ? '' : `: it said "${lastLine}"`;
    onFailure(new ParleyError('engine_unreachable', `Cannot go on: the Temporal server has ended${because}`));
  });
  const { address, pid } = server;
  const mark = processMark(pid);
  writeEngineNote(places, { address, namespace, queue, server: mark === null ? null : { pid, mark } });
  const file = path.relative(process.cwd(), places.temporalDatabase);
  onNotice(
    `no Temporal server is named, so one was started for this command at ${address}; it keeps everything in ${file}`,
  );
  return { address, namespace };
}

/** What an owner that was killed has left: its server, which is about to end. */
async function hasEnded(note: EngineNote | null): Promise<void> {
  if (note?.address === null) await pause(UNKNOWN_END_MS);
  const server = note?.server ?? null;
  if (server === null) return;
  const until = Date.now() + EARLIER_END_MS_MAX;
  while (processMark(server.pid) === server.mark) {
    if (Date.now() > until) {
      const message = `Cannot start a Temporal server: the process ${server.pid} of an earlier run still uses its database`;
      throw new ParleyError('engine_unreachable', message, { remedy: `end it with "kill ${server.pid}"` });
    }
    await pause(EARLIER_POLL_MS);
  }
}
