/**
 * What goes wrong at this moment or went wrong lately: what is tried again, failed starts, lost sandboxes, held runs,
 * undelivered messages, lost spend rows.
 * Owns the list; each source knows its own failures, and nothing is judged here.
 */
import { z } from 'zod';
import { conversationId, runId, sandboxId } from '../../core/ids.ts';
import { DAY_MS } from '../../core/time.ts';
import { lossWords } from '../../core/money/spend-loss.ts';
import type { TroubleOf } from '../../core/trouble.ts';
import { type Application, type Principal, whoseRecords } from '../application/application.ts';
import { route } from '../application/route.ts';
import { instantOut, isoInstant } from '../application/wire.ts';
import { titleOf } from '../conversations/conversation-record.ts';
import { isTheirs, currentTroubles } from '../runs/run-access.ts';

/** What is older is history, and stands on the page of what it happened to. */
const SINCE_MS = 7 * DAY_MS;
const SHOWN_MAX = 100;

const KINDS = [
  'retrying',
  'failed_start',
  'failed_sandbox',
  'held_run',
  'failed_last_step',
  'lost_spend',
] as const;

const troubleSchema = z
  .object({
    kind: z.enum(KINDS).meta({ id: 'TroubleKind' }),
    about: z.enum(['run', 'conversation', 'sandbox', 'spend']),
    id: z.string().nullable().meta({ description: 'Of what it is about; null for spend.' }),
    title: z.string().nullable(),
    text: z.string().meta({ description: 'Why, as one sentence.' }),
    at: instantOut.meta({ description: 'Since when, or when it was seen.' }),
    tries: z.int().nullable(),
    next_at: instantOut.nullable(),
  })
  .meta({ id: 'CurrentTrouble' });
type TroubleRecord = z.output<typeof troubleSchema>;

export const TROUBLE_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/trouble',
    operation: 'list_trouble',
    summary: 'What goes wrong now or went wrong in the last seven days, newest first, at most 100.',
    access: 'key',
    result: z.object({ items: z.array(troubleSchema) }),
    handler: async ({ application, caller }) => {
      const found = await Promise.all([
        retrying(application, caller),
        failures(application, caller),
        heldRuns(application, caller),
        lostSpend(application, caller),
      ]);
      const items = found.flat().sort((one, other) => (one.at < other.at ? 1 : -1));
      return { items: items.slice(0, SHOWN_MAX) };
    },
  }),
] as const;

const ONCE = { tries: null, next_at: null } as const;

async function retrying(application: Application, caller: Principal): Promise<TroubleRecord[]> {
  const found: TroubleRecord[] = [];
  for (const trouble of await currentTroubles(application)) {
    if (found.length === SHOWN_MAX) break;
    const title = await titleIfTheirs(application, caller, trouble);
    if (title === null) continue;
    const { about, what, cause, since, tries, nextAt } = trouble;
    found.push({
      kind: 'retrying',
      about: about.machine === 'shard' ? 'run' : about.machine,
      ...{ id: about.id, title, text: `${what}: ${cause}`, at: isoInstant(since), tries },
      next_at: isoInstant(nextAt),
    });
  }
  return found;
}

/** Null for what is another user's, or gone. */
async function titleIfTheirs(
  { world }: Application,
  caller: Principal,
  { about: { machine, id }, item }: TroubleOf,
): Promise<string | null> {
  const whose = whoseRecords(caller);
  switch (machine) {
    case 'run':
    case 'shard': {
      const run = await world.records.run(runId(id));
      if (run === null || !isTheirs(caller, run)) return null;
      return item === null ? run.name : `${run.name}: ${item}`;
    }
    case 'conversation': {
      const row = await world.records.conversation(conversationId(id));
      return row === null || (whose !== null && row.userId !== whose) ? null : titleOf(row);
    }
    case 'sandbox': {
      const row = await world.records.sandbox(sandboxId(id));
      return row === null || (whose !== null && row.userId !== whose) ? null : row.sandboxId.slice(0, 8);
    }
  }
}

async function failures({ overview, world }: Application, caller: Principal): Promise<TroubleRecord[]> {
  const since = world.clock.now() - SINCE_MS;
  const wanted = { userId: whoseRecords(caller), since, limit: SHOWN_MAX };
  const starts = await overview.failedStarts(wanted);
  const sandboxes = await overview.failedSandboxes(wanted);
  const steps = await overview.failedLastSteps(wanted);
  return [
    ...starts.map((row): TroubleRecord => {
      const of = { about: 'conversation', id: row.conversationId, title: titleOf(row) } as const;
      const text = row.startTaskDetail ?? 'no reason was given';
      return { kind: 'failed_start', ...of, text, at: isoInstant(row.updatedAt), ...ONCE };
    }),
    ...sandboxes.map((row): TroubleRecord => {
      const of = { about: 'sandbox', id: row.sandboxId, title: row.sandboxId.slice(0, 8) } as const;
      const text = `${row.status}: ${row.detail ?? 'no reason was given'}`;
      return { kind: 'failed_sandbox', ...of, text, at: isoInstant(row.createdAt), ...ONCE };
    }),
    ...steps.map((step): TroubleRecord => {
      const of = { about: 'run', id: step.runId, title: step.name } as const;
      return { kind: 'failed_last_step', ...of, text: step.detail, at: isoInstant(step.at), ...ONCE };
    }),
  ];
}

/** Reasons of the run itself; what a person or the concurrency holds back is no trouble. */
const HELD = /^(?:breaker|budget|canary)/;

async function heldRuns({ search, runLog }: Application, caller: Principal): Promise<TroubleRecord[]> {
  const page = { after: null, limit: SHOWN_MAX, descending: true };
  const runs = await search.runs(page, whoseRecords(caller), { state: 'open' });
  const found: TroubleRecord[] = [];
  for (const { runId: id, name, reason, createdAt } of runs) {
    if (reason === null || !HELD.test(reason)) continue;
    // The instant of the last event of the run as a whole.
    const at = isoInstant((await runLog.runEvents(id)).at(-1)?.at ?? createdAt);
    found.push({ kind: 'held_run', about: 'run', id, title: name, text: `held by ${reason}`, at, ...ONCE });
  }
  return found;
}

async function lostSpend({ world }: Application, { scope }: Principal): Promise<TroubleRecord[]> {
  if (scope !== 'admin') return [];
  const since = world.clock.now() - SINCE_MS;
  const losses = (await world.spend.losses()).filter(({ seenAt }) => seenAt >= since);
  return losses.map((loss): TroubleRecord => {
    const of = { about: 'spend', id: null, title: null } as const;
    return { kind: 'lost_spend', ...of, text: lossWords(loss), at: isoInstant(loss.seenAt), ...ONCE };
  });
}
