/**
 * One sandbox that harms its neighbours as it can while they work: they finish, the memory of the service stays
 * below twice what it was when all was quiet, nothing is lost, and nothing is left.
 * Owns the storm and what is judged.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { RandomStream } from '../../simulator/random.ts';
import { HostileGround, until } from './hostile-ground.ts';
import { Hostile, Measured, Neighbour, type Figures } from './hostile-players.ts';
import { ATTACKS, type Attack } from './inside/orders.ts';

const MINUTE_MS = 60_000;
const ATTACK_MS = [2_000, 5_000] as const;
const SETTLE_MS = 1_500;
/** Quiet: all sandboxes up and at work, none hostile. */
const QUIET_MS = 6_000;
const GROWTH_MAX = 2;
/** A neighbour that is not served for so long counts as harmed. */
const STALL_MS_MAX = 60_000;
/** Lines that the service may print in one attack: a refusal is printed, a thousand are counted. */
const LINES_MAX = 60;

export async function hostileChaos(options: HostileOptions): Promise<boolean> {
  const ground = new HostileGround();
  const findings: string[] = [];
  const rows: Row[] = [];
  try {
    await ground.open();
    const { neighbours, quietMiB } = await storm(ground, { options, rows, findings });
    await judge(ground, { neighbours, findings });
    report({ options, rows, quietMiB, neighbours });
  } catch (error) {
    findings.push(error instanceof Error ? error.message : String(error));
    if (ground.ended !== null) findings.push(ground.ended);
    report({ options, rows, quietMiB: 0, neighbours: [] });
  } finally {
    await ground.close();
  }
  for (const finding of new Set(findings)) process.stdout.write(`broken: ${finding}\n`);
  process.stdout.write(findings.length === 0 ? 'all invariants hold\n' : `${findings.length} findings\n`);
  return findings.length === 0;
}

interface Storm {
  readonly options: HostileOptions;
  readonly rows: Row[];
  readonly findings: string[];
}

async function storm(ground: HostileGround, { options, rows, findings }: Storm): Promise<Seen> {
  const names = Array.from({ length: options.sandboxes - 1 }, (_, at) => `work ${at}`);
  const neighbours: Neighbour[] = [];
  // A few at a time: boots are heavy, and they are not what is measured.
  for (let at = 0; at < names.length; at += 4) {
    const some = names.slice(at, at + 4);
    const started = await Promise.all(some.map((name) => ground.start(name)));
    neighbours.push(...started.map((one, index) => new Neighbour(ground, one, some[index] ?? '')));
  }
  let isOver = false;
  const working = neighbours.map(async (one) => {
    await one.work(() => isOver).catch((error: unknown) => findings.push(`${one.first}: ${String(error)}`));
  });
  const hostile = new Hostile(ground);
  await hostile.ready();
  const measured = new Measured(ground);
  const stop = measured.start();
  await wait(QUIET_MS);
  const { memoryMiB: quietMiB } = measured.take();
  const random = new RandomStream(options.seed).split('hostile');
  const until = Date.now() + options.minutes * MINUTE_MS;
  const isEnough = (): boolean =>
    options.faults === null ? Date.now() >= until : rows.length >= options.faults;
  const attacks = ATTACKS.filter((attack) => options.only === null || attack.includes(options.only));
  let pile: Attack[] = [];
  while (!isEnough() && ground.ended === null) {
    // Each once before any a second time, so that a short run covers all of them.
    if (pile.length === 0) pile = shuffled(attacks, random);
    const attack = pile.pop() ?? ATTACKS[0];
    const linesBefore = ground.lines;
    const ms = Math.round(ATTACK_MS[0] + random.next() * (ATTACK_MS[1] - ATTACK_MS[0]));
    const did = await hostile.attack(attack, ms);
    await wait(SETTLE_MS);
    const row = { attack, did, lines: ground.lines - linesBefore, ...measured.take() };
    rows.push(row);
    if (process.env['CHAOS_LOG'] !== undefined) process.stderr.write(`${JSON.stringify(row)}\n`);
    if (row.memoryMiB > quietMiB * GROWTH_MAX)
      findings.push(
        `"${attack}" took the service from ${quietMiB.toFixed()} to ${row.memoryMiB.toFixed()} MiB`,
      );
    if (row.lines > LINES_MAX) findings.push(`"${attack}" made the service say ${row.lines} lines`);
  }
  isOver = true;
  await Promise.all(working);
  stop();
  if (ground.ended !== null) findings.push(ground.ended);
  else await hostile.end();
  return { neighbours, quietMiB };
}

function shuffled<T>(all: readonly T[], random: RandomStream): T[] {
  return all
    .map((one) => ({ one, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

async function judge(
  ground: HostileGround,
  { neighbours, findings }: { readonly neighbours: readonly Neighbour[]; readonly findings: string[] },
): Promise<void> {
  if (ground.ended !== null) return;
  for (const { conversation, accepted, first, slowestMs } of neighbours) {
    const found = await until('a transcript', async () => {
      const texts = await ground.messagesIn(conversation);
      return texts.length >= accepted.length ? texts : null;
    }).catch(() => ground.messagesIn(conversation));
    if (found.join('\n') !== accepted.join('\n'))
      findings.push(
        `${first}: accepted ${accepted.length} messages, and ${found.length} stand in its transcript`,
      );
    if (slowestMs > STALL_MS_MAX) findings.push(`${first} was not served for ${Math.round(slowestMs)} ms`);
  }
  await Promise.all(neighbours.map(({ conversation }) => ground.remove(conversation)));
  const left = ground.left();
  if (left.length > 0) findings.push(`left: ${left.join(', ')}`);
}

/** Options of the hostile form of chaos. */
interface HostileOptions {
  readonly seed: number;
  readonly minutes: number;
  /** So many attacks in place of a time; null: by time. */
  readonly faults: number | null;
  /** The hostile one included. */
  readonly sandboxes: number;
  readonly only: string | null;
}

interface Row extends Figures {
  readonly attack: Attack;
  readonly did: string;
  readonly lines: number;
}

interface Seen {
  readonly neighbours: readonly Neighbour[];
  readonly quietMiB: number;
}

interface Reported extends Seen {
  readonly options: HostileOptions;
  readonly rows: readonly Row[];
}

function report({ options, rows, quietMiB, neighbours }: Reported): void {
  const { seed, sandboxes, faults, minutes } = options;
  const length = faults === null ? `${minutes} minutes` : `${faults} attacks`;
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  say(`hostile chaos: ${length}, 1 against ${sandboxes - 1}, seed ${seed}`);
  const width = Math.max(6, ...rows.map(({ attack }) => attack.length));
  say(`${'attack'.padEnd(width)}  MiB  files  lines  slowest ms  what it got`);
  for (const { attack, memoryMiB, descriptors, lines, slowestMs, did } of rows) {
    const numbers = [
      memoryMiB.toFixed().padStart(4),
      String(descriptors).padStart(5),
      String(lines).padStart(5),
    ];
    say(`${attack.padEnd(width)} ${numbers.join('  ')}  ${slowestMs.toFixed().padStart(10)}  ${did}`);
  }
  const most = Math.max(0, ...rows.map(({ memoryMiB }) => memoryMiB));
  say(`memory of the service: ${quietMiB.toFixed()} MiB when quiet, ${most.toFixed()} at most`);
  const messages = neighbours.reduce((sum, { accepted }) => sum + accepted.length, 0);
  const slowest = Math.max(0, ...neighbours.map(({ slowestMs }) => slowestMs));
  say(
    `${neighbours.length} neighbours worked: ${messages} messages, the slowest answer after ${slowest.toFixed()} ms`,
  );
}
