/**
 * Bringing one incarnation up.
 * Owns the decision between adopting, replacing and launching, and the wait for the Agent Server.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxAddress } from '../../ports/sandbox-runtime.ts';
import { setGroupFrozen } from './cgroups/sandbox-group.ts';
import type { StartOrder as OrderOfPlace } from '../on-host/runtime-by-record.ts';
import { untilSealed } from '../on-host/sealed-socket.ts';
import { isRunning } from './incarnation.ts';
import { addressOf } from './inside-view.ts';
import type { Isolation } from './isolation.ts';
import { readLastWords } from './last-words.ts';
import { launch } from './launch.ts';
import type { ResourceLimits } from './resource-limits.ts';
import { PROBE_INTERVAL_MS } from '../on-host/limits.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import { readRecord, type SandboxRecord } from './sandbox-record.ts';
import { launchSettled, stopIncarnation } from './stop-incarnation.ts';
import { stale, staleReason, tooLate } from '../on-host/order-refusals.ts';
import { becomesTrue } from '../on-host/wait.ts';

/** Each choice is of thousands: so many in a row are no accident. */
const PORT_TRIES_MAX = 5;

export interface StartOrder extends Omit<OrderOfPlace<SandboxPaths>, 'place'> {
  readonly options: ProcessRuntimeOptions;
  readonly isolation: Isolation;
  readonly limits: ResourceLimits;
  readonly paths: SandboxPaths;
}

/** @throws ParleyError as `SandboxRuntime.start` */
export async function startSandbox(order: StartOrder): Promise<SandboxAddress> {
  const { options, paths, request } = order;
  const found = await readRecord(paths);
  const { endedGeneration, overtaken } = order;
  const refused = staleReason({ request, found, endedGeneration, isOvertaken: overtaken.aborted });
  if (refused !== null) throw stale(request, refused);
  if (found !== null && found.generation === request.generation && (await isUp(order, found))) {
    if (found.group !== null) await setGroupFrozen(found.group, false);
    return await waitUntilReady(order, found);
  }
  if (found !== null) await stopIncarnation({ paths, record: found }, options.clock);
  if (options.clock.now() >= request.deadline) throw tooLate(request);
  return await launchAnew(order, found);
}

/** A plain process listens on ports of the host, and another program may take one first: then others are chosen. */
async function launchAnew(order: StartOrder, found: SandboxRecord | null): Promise<SandboxAddress> {
  const { options, paths } = order;
  let previous = found;
  for (let tries = 1; ; tries += 1) {
    const record = await launch({ ...order, previous });
    await launchSettled({ paths, record }, options.clock);
    try {
      return await waitUntilReady(order, record);
    } catch (error) {
      if (!(error instanceof PortTaken) || tries >= PORT_TRIES_MAX) throw error;
      await stopIncarnation({ paths, record }, options.clock);
      previous = record;
    }
  }
}

class PortTaken extends ParleyError {}

async function isUp({ options, paths }: StartOrder, record: SandboxRecord): Promise<boolean> {
  await launchSettled({ paths, record }, options.clock);
  return await isRunning(paths);
}

async function waitUntilReady(order: StartOrder, record: SandboxRecord): Promise<SandboxAddress> {
  const { options, paths } = order;
  await untilSealed({
    ...order,
    place: paths,
    clock: options.clock,
    problem: async () => ((await isRunning(paths)) ? null : await died(order, record)),
    giveUp: () => stopIncarnation({ paths, record }, options.clock),
  });
  return addressOf(record, paths);
}

async function died({ options, paths, request }: StartOrder, record: SandboxRecord): Promise<ParleyError> {
  // Bubblewrap writes the exit code a moment after the namespace has gone.
  await becomesTrue(options.clock, PROBE_INTERVAL_MS, () => Promise.resolve(false));
  const { words } = await readLastWords(paths, record);
  const isPort = record.isolation === 'none' && words.includes('EADDRINUSE');
  const Why = isPort ? PortTaken : ParleyError;
  return new Why('runtime_failed', `Cannot start sandbox "${request.sandboxId}": ${words}`);
}
