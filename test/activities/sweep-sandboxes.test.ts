/** Store and runtime side by side: who is an orphan, how long it is left alone, and what is never touched. */
import { describe, expect, it } from 'vitest';
import { GRACE_MS, sweepSandboxes, type OrphanSightings } from '../../activities/sweep-sandboxes.ts';
import { sandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';

const ORPHAN = sandboxId('a'.repeat(32));
const NONE: OrphanSightings = new Map();

type Row = Partial<Pick<SandboxRow, 'status' | 'transition' | 'releasedAt'>>;

interface Setup {
  readonly row?: Row;
  readonly held?: readonly { readonly generation: number; readonly up: boolean }[];
  readonly archived?: boolean;
  readonly exportFails?: boolean;
  readonly listFails?: boolean;
}

/** A world of one sandbox; every change of it is a line of the log. */
function worldWith(setup: Setup) {
  const log: string[] = [];
  const time = { now: 1_000_000 };
  const unreachable = new ParleyError('runtime_unreachable', 'Cannot list: the disk is away');
  const held = setup.held ?? [{ generation: 2, up: true }];
  const row =
    setup.row === undefined
      ? null
      : ({ sandboxId: ORPHAN, transition: null, releasedAt: null, ...setup.row } as unknown as SandboxRow);
  const world = {
    runtime: {
      list: () =>
        setup.listFails === true
          ? Promise.reject(unreachable)
          : Promise.resolve(held.map((one) => ({ sandboxId: ORPHAN, ...one }))),
      async *exportWorkspace() {
        if (setup.exportFails === true) throw new ParleyError('workspace_unreadable', 'Cannot export: torn');
        yield await Promise.resolve(Buffer.from('tar'));
      },
      destroy: () => Promise.resolve(void log.push('destroy')),
      removeLeftovers: () => Promise.resolve(['control group x']),
    },
    records: {
      sandboxes: () => Promise.resolve(row === null || row.status === 'MISSING' ? [] : [row]),
      sandbox: () => Promise.resolve(row),
    },
    warmPool: { held: () => Promise.resolve([]) },
    archives: {
      archives: () => Promise.resolve(setup.archived === true ? [{ generation: 2 }] : []),
      putArchive: () => Promise.resolve(void log.push('mark')),
    },
    blobs: {
      async put(_key: string, content: AsyncIterable<Uint8Array>) {
        for await (const _ of content) log.push('archive');
        return { sha256: 's', bytes: 3 };
      },
    },
    lifecycle: { record: ({ code }: { readonly code: string }) => Promise.resolve(void log.push(code)) },
    clock: { now: () => time.now },
  } as unknown as Parameters<typeof sweepSandboxes>[0];
  return { world, log, time };
}

async function sweepTwice(setup: Setup, waitMs = GRACE_MS) {
  const { world, log, time } = worldWith(setup);
  const first = await sweepSandboxes(world, NONE);
  time.now += waitMs;
  const second = await sweepSandboxes(world, first.sightings);
  return { log, first, second };
}

describe('sweepSandboxes()', () => {
  it('leaves what it sees for the first time alone, however old it may be', async () => {
    const { world, log } = worldWith({});
    expect((await sweepSandboxes(world, NONE)).sightings.get(ORPHAN)).toMatchObject({ sightings: 1 });
    expect(log).toEqual([]);
  });

  it('archives, marks, deletes and records an orphan at the second sighting after the grace', async () => {
    const { log, second } = await sweepTwice({});
    expect(log).toEqual(['archive', 'mark', 'destroy', 'orphan_removed']);
    expect(second.sightings.size).toBe(0);
    expect(second.done[0]).toContain('no record knew');
  });

  it('waits for the grace, and begins anew for one that was gone in between', async () => {
    expect((await sweepTwice({}, GRACE_MS - 1)).log).toEqual([]);
    const { world, log, time } = worldWith({ held: [] });
    const gone = await sweepSandboxes(world, new Map([[ORPHAN, { firstSeenAt: 0, sightings: 9 }]]));
    time.now += GRACE_MS;
    expect(gone.sightings.size).toBe(0);
    expect(log).toEqual([]);
  });

  it('keeps the files when the archive fails, and says so', async () => {
    const { log, second } = await sweepTwice({ exportFails: true });
    expect(log).toEqual([]);
    expect(second.problems[0]).toContain('torn');
    expect(second.sightings.get(ORPHAN)?.sightings).toBe(2);
  });

  it('archives nothing twice, and nothing that never was a sandbox', async () => {
    expect((await sweepTwice({ archived: true })).log).toEqual(['destroy', 'orphan_removed']);
    expect((await sweepTwice({ held: [{ generation: 0, up: false }] })).log).toEqual([
      'destroy',
      'orphan_removed',
    ]);
  });

  it.each<[string, Row]>([
    ['is starting', { status: 'STARTING' }],
    ['is up', { status: 'RUNNING' }],
    ['is released', { status: 'PAUSED', releasedAt: 5 }],
    ['failed', { status: 'ERROR' }],
    ['is being deleted', { status: 'MISSING', transition: 'deleting' }],
  ])('never touches a sandbox that %s', async (_, row) => {
    expect((await sweepTwice({ row })).log).toEqual([]);
  });

  it('removes what a deleted sandbox left in the runtime', async () => {
    expect((await sweepTwice({ row: { status: 'MISSING' } })).log).toContain('destroy');
  });

  it('counts a sandbox that is listed twice once', async () => {
    const twice = [
      { generation: 2, up: true },
      { generation: 2, up: true },
    ];
    const { first, log } = await sweepTwice({ held: twice });
    expect(first.sightings.get(ORPHAN)?.sightings).toBe(1);
    expect(log.filter((line) => line === 'destroy')).toHaveLength(1);
  });

  it('changes nothing while the runtime cannot be asked', async () => {
    const { world, log } = worldWith({ listFails: true });
    const before = new Map([[ORPHAN, { firstSeenAt: 0, sightings: 1 }]]);
    const report = await sweepSandboxes(world, before);
    expect(report.sightings).toBe(before);
    expect(report.problems[0]).toContain('the disk is away');
    expect(log).toEqual([]);
  });

  it('tells of released files that are gone, and of leftovers', async () => {
    const { first } = await sweepTwice({ row: { status: 'PAUSED', releasedAt: 5 }, held: [] });
    expect(first.problems).toEqual([expect.stringContaining('are gone')]);
    expect(first.done).toEqual(['removed control group x, which belonged to no sandbox']);
  });

  it('asks for the sandboxes of its own host, and never touches one that another host has', async () => {
    const { world, log } = worldWith({ row: { status: 'RUNNING' } });
    const asked: unknown[] = [];
    world.records.sandboxes = (living) => Promise.resolve((asked.push(living), []));
    const before = new Map([[ORPHAN, { firstSeenAt: 0, sightings: 9 }]]);
    expect(await sweepSandboxes(world, before, 'own')).toMatchObject({ problems: [] });
    expect(asked).toEqual([{ host: 'own' }]);
    expect(log).toEqual([]);
  });
});
