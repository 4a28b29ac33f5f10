/**
 * A runtime whose sandboxes are directories of this host, each with a record of what is wanted.
 * Owns the order, so that a successor after a crash goes on with it: what is wanted is on record before anything starts or
 * ends. Owns, too, which of the two counts: what runs is up, whatever is wanted, and what is down without being wanted so has
 * crashed. Must not know what a sandbox is made of.
 */
import { basename, join } from 'node:path';
import type { SandboxId } from '../../core/ids.ts';
import { asParleyError, ParleyError } from '../../core/parley-error.ts';
import type {
  RuntimeFreezer,
  RuntimePresence,
  SandboxAddress,
  SandboxRuntime,
  StartSandboxRequest,
} from '../../ports/sandbox-runtime.ts';
import { exportDirectory } from '../workspace-archive/export-directory.ts';
import { watchDisks } from './disk-watch.ts';
import { guarded, guardedOperations, type RuntimeOperations } from './guard/guarded.ts';
import { leaveDiskLimit, type LastWords } from './last-words.ts';
import { DISK_POLL_MS, SANDBOX_FILES_MAX } from './limits.ts';
import type { HostRuntimeOptions } from './options.ts';
import { overtakenOrder, type Wanted } from './order-refusals.ts';
import { removeTree } from './remove-tree.ts';
import { namesIn, sandboxIds, SOCKET_DIRECTORY, type SandboxPlace } from './sandbox-place.ts';
import type { SandboxTurns } from './sandbox-turns.ts';

/** One sandbox: where it lies, and what is on record of it. */
export interface OnRecord<Place, Record> {
  readonly id: SandboxId;
  readonly place: Place;
  readonly record: Record;
}

export interface StartOrder<Place> {
  readonly place: Place;
  readonly request: StartSandboxRequest;
  /** Generations up to this one have ended for good. */
  readonly endedGeneration: number;
  /** Aborted when a newer order for the same sandbox arrived, which cleans up. */
  readonly overtaken: AbortSignal;
}

/** `unknown`: it is on its way up or down, and only the record decides now. */
export type Seen =
  | { readonly kind: 'up'; readonly address: SandboxAddress; readonly isFrozen: boolean }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'down'; lastWords(): Promise<LastWords> };

/** What a sandbox is made of: everything that differs between runtimes of this host. */
export interface SandboxMaker<Place extends SandboxPlace, Record extends Wanted> {
  readonly options: HostRuntimeOptions;
  readonly bytesMax: number | null;
  readonly turns: SandboxTurns;
  readonly placeOf: (id: SandboxId) => Place;
  readonly read: (place: Place) => Promise<Record | null>;
  readonly write: (place: Place, record: Record) => Promise<void>;
  /** Writes its own record, and waits until the Agent Server answers. */
  readonly start: (order: StartOrder<Place>) => Promise<SandboxAddress>;
  /** The record is as it was before the order; null where there is none. */
  readonly end: (one: OnRecord<Place, Record | null>) => Promise<void>;
  readonly see: (one: OnRecord<Place, Record>) => Promise<Seen>;
  /** Called once for a whole list; its result is called for each. */
  readonly upNow: () => Promise<(one: OnRecord<Place, Record>) => boolean | Promise<boolean>>;
  /** False: it is not up. */
  readonly setFrozen: (one: OnRecord<Place, Record>, frozen: boolean) => Promise<boolean>;
  /** What is removed with it, its record last. */
  readonly treesOf: (place: Place) => readonly string[];
  /** What counts as kept on disk; the first is where its files without a name are. */
  readonly keptTreesOf: (place: Place) => readonly [string, ...string[]];
  /** Numbers on the host, as far as they can be found. */
  readonly processesOf: (place: Place) => Promise<readonly number[]>;
  readonly kill: (place: Place, target: Target) => Promise<void>;
  /** Lists what there is beside directories; then removes what belongs to none of the records, with a line for each. */
  readonly others: () => Promise<(records: readonly Record[]) => Promise<readonly string[]>>;
}

type Target = Parameters<SandboxRuntime['stop']>[0];

/** Watches disks for as long as this process lives. */
export function runtimeByRecord<Place extends SandboxPlace, Record extends Wanted>(
  maker: SandboxMaker<Place, Record>,
): RuntimeOperations & { readonly freezer: RuntimeFreezer } {
  const { options, turns, placeOf } = maker;
  watchDisks({
    bytesMax: maker.bytesMax,
    filesMax: options.filesMax ?? SANDBOX_FILES_MAX,
    everyMs: options.diskLookMs ?? DISK_POLL_MS,
    upNow: async () => (await list(maker)).filter(({ up }) => up),
    treesOf: ({ sandboxId }) => maker.keptTreesOf(placeOf(sandboxId)),
    socketDirOf: ({ sandboxId }) => placeOf(sandboxId).offeredDir,
    processesOf: ({ sandboxId }) => maker.processesOf(placeOf(sandboxId)),
    async end(target, bound) {
      const place = placeOf(target.sandboxId);
      await leaveDiskLimit(place.endedFor, bound);
      await maker.kill(place, target);
    },
  });
  return {
    freezer: {
      freeze: (target) => change(maker, target, true),
      thaw: (target) => change(maker, target, false),
    },
    ...guardedOperations({
      removeLeftovers: () => removeLeftovers(maker),
      start: (request) =>
        turns.start({ id: request.sandboxId, generation: request.generation }, (overtaken) => {
          const endedGeneration = turns.endedGeneration(request.sandboxId);
          return maker.start({ place: placeOf(request.sandboxId), request, endedGeneration, overtaken });
        }),
      stop: (target) => stop(maker, target),
      destroy: (id) => destroy(maker, id),
      inspect: (id) => inspect(maker, id),
      list: () => list(maker),
      exportWorkspace: (id) => exportWorkspace(maker, id),
    }),
  };
}

async function stop<Place extends SandboxPlace, Record extends Wanted>(
  { turns, placeOf, read, write, end }: SandboxMaker<Place, Record>,
  target: Target,
): Promise<void> {
  const { sandboxId: id, generation } = target;
  await turns.end({ id, generation }, async () => {
    const place = placeOf(id);
    const record = await read(place);
    if (record !== null && record.generation > generation)
      throw overtakenOrder('stop', target, record.generation);
    turns.rememberEnded({ id, generation });
    if (record === null || record.desired === 'destroyed') return;
    await write(place, { ...record, generation, desired: 'stopped' });
    await end({ id, place, record });
  });
}

/** A removal that was cut off is seen by `list` and simply ordered again. */
async function destroy<Place extends SandboxPlace, Record extends Wanted>(
  { turns, placeOf, read, write, end, treesOf }: SandboxMaker<Place, Record>,
  id: SandboxId,
): Promise<void> {
  await turns.end({ id, generation: Number.MAX_SAFE_INTEGER }, async () => {
    const place = placeOf(id);
    const record = await read(place);
    if (record !== null) {
      turns.rememberEnded({ id, generation: record.generation });
      await write(place, { ...record, desired: 'destroyed' });
    }
    await end({ id, place, record });
    for (const tree of treesOf(place)) await removeTree(tree);
  });
}

/** Never throws: what cannot be read or seen is unknown. */
async function inspect<Place extends SandboxPlace, Record extends Wanted>(
  { placeOf, read, see }: SandboxMaker<Place, Record>,
  id: SandboxId,
): Promise<RuntimePresence> {
  try {
    const place = placeOf(id);
    const record = await read(place);
    if (record === null || record.desired === 'destroyed') return { kind: 'gone' };
    const { generation } = record;
    const seen = await see({ id, place, record });
    if (seen.kind === 'up') {
      const up = { kind: 'up', generation, address: seen.address } as const;
      return seen.isFrozen ? { ...up, isFrozen: true } : up;
    }
    if (record.desired === 'stopped') return { kind: 'stopped', generation };
    if (seen.kind === 'unknown') return seen;
    const { cause, words } = await seen.lastWords();
    return { kind: 'crashed', generation, reason: words, cause };
  } catch (error) {
    return { kind: 'unknown', reason: asParleyError(error).message };
  }
}

async function list<Place extends SandboxPlace, Record extends Wanted>({
  options,
  placeOf,
  read,
  upNow,
}: SandboxMaker<Place, Record>): ReturnType<SandboxRuntime['list']> {
  const ids = await sandboxIds(options.dataDir);
  const isUp = await upNow();
  const found = [];
  for (const id of ids) {
    const place = placeOf(id);
    const record = await read(place);
    // A directory without a record is the rest of a first start or of a removal: there, and never up.
    const up = record !== null && (await isUp({ id, place, record }));
    found.push({ sandboxId: id, generation: record?.generation ?? 0, up });
  }
  return found;
}

function change<Place extends SandboxPlace, Record extends Wanted>(
  { turns, placeOf, read, setFrozen }: SandboxMaker<Place, Record>,
  target: Target,
  frozen: boolean,
): Promise<void> {
  const { sandboxId: id, generation } = target;
  const verb = frozen ? 'freeze' : 'thaw';
  const work = turns.change(id, async () => {
    const place = placeOf(id);
    const record = await read(place);
    if (record !== null && record.generation > generation)
      throw overtakenOrder(verb, target, record.generation);
    const isWanted = record?.generation === generation && record.desired === 'up';
    if (!isWanted || !(await setFrozen({ id, place, record }, frozen)))
      throw new ParleyError('runtime_gone', `Cannot ${verb} generation ${generation}: it is not up`);
  });
  return guarded(`${verb} sandbox "${id}"`, work);
}

async function* exportWorkspace<Place extends SandboxPlace, Record extends Wanted>(
  { placeOf, read }: SandboxMaker<Place, Record>,
  id: SandboxId,
): AsyncGenerator<Uint8Array> {
  const place = placeOf(id);
  const record = await read(place);
  if (record === null || record.desired === 'destroyed')
    throw new ParleyError('runtime_gone', `Cannot export sandbox "${id}": there is no such sandbox`);
  yield* exportDirectory(place.workspace);
}

/** Records are read after what lies around was listed: whatever is being made now has its record already. */
async function removeLeftovers<Place extends SandboxPlace, Record extends Wanted>({
  options: { dataDir, socketDir },
  placeOf,
  read,
  others,
}: SandboxMaker<Place, Record>): Promise<readonly string[]> {
  const sockets = (await namesIn(socketDir)).filter((name) => SOCKET_DIRECTORY.test(name));
  const removeOthers = await others();
  const places = (await sandboxIds(dataDir)).map(placeOf);
  const records = await Promise.all(places.map(read));
  const owned = new Set(places.map((place) => basename(place.socketDir)));
  const unowned = sockets.filter((name) => !owned.has(name));
  for (const name of unowned) await removeTree(join(socketDir, name));
  const removed = await removeOthers(records.filter((record) => record !== null));
  return [...unowned.map((name) => `socket directory ${name}`), ...removed];
}
