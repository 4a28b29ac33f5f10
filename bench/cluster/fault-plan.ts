/**
 * Which part is harmed and when, from a seed alone, independent of what happens.
 * Owns the draw; every kind comes once in a round before any comes twice.
 */
import type { RandomStream } from '../../simulator/random.ts';

export const FAULT_KINDS = [
  'api killed',
  'api stopped',
  'worker killed',
  'worker stopped',
  'proxy killed',
  'proxy stopped',
  'machine without power',
  'machine lost for good',
  'PostgreSQL crashed',
  'Temporal killed',
  'bucket killed',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** Which of several, counted from 0. */
  readonly target: number;
  /** After the end of the one before. */
  readonly afterMs: number;
  /** How long it is away; for a lost machine, until another one joins. */
  readonly awayMs: number;
}

export interface Targets {
  readonly apis: number;
  readonly workers: number;
  readonly proxies: number;
  /** Whether there are machines whose power can be cut. */
  readonly areApart: boolean;
}

const AFTER_MS = [1_000, 6_000] as const;
const AWAY_MS = [300, 4_000] as const;
/** Shorter than the lease of a host or of a proxy: an expired lease is another kind of fault. */
const STOPPED_MS = [2_000, 9_000] as const;

/** Endless; the caller decides how many it takes. */
export function* faultPlan(random: RandomStream, targets: Targets): Generator<Fault> {
  const kinds = FAULT_KINDS.filter((kind) => targets.areApart || !kind.startsWith('machine'));
  for (;;) {
    const left = [...kinds];
    while (left.length > 0) {
      const [kind] = left.splice(Math.floor(random.next() * left.length), 1) as [FaultKind];
      const count = countOf(kind, targets);
      const target = Math.floor(random.next() * count);
      const afterMs = between(AFTER_MS, random);
      const awayMs = between(kind.endsWith('stopped') ? STOPPED_MS : AWAY_MS, random);
      yield { kind, target, afterMs, awayMs };
    }
  }
}

/** One line of the printed plan. */
export function faultText({ kind, target, afterMs, awayMs }: Fault): string {
  return `after ${afterMs} ms: ${kind} (${target + 1}), for ${awayMs} ms`;
}

function countOf(kind: FaultKind, { apis, workers, proxies }: Targets): number {
  if (kind.startsWith('api')) return apis;
  if (kind.startsWith('proxy')) return proxies;
  return kind.startsWith('worker') || kind.startsWith('machine') ? workers : 1;
}

function between([from, to]: readonly [number, number], random: RandomStream): number {
  return Math.round(from + random.next() * (to - from));
}
