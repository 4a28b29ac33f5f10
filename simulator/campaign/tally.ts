/**
 * What many cases came to, added up.
 * Owns the sums and what is still missing; must not play anything.
 */
import { FAULT_NAMES, type FaultName } from '../faults/catalogue.ts';
import type { Counts, Coverage } from './coverage.ts';
import type { CaseResult } from './run-case.ts';
import { PAIRS, pairName, TRANSITIONS, transitionName, CELLS } from './transitions.ts';

/** What of a result is added up, small enough to be sent between processes. */
export type CaseSummary = Omit<CaseResult, 'injected' | 'table'>;

/** What a campaign has covered, as figures. */
export function summaryOf({ injected: _injected, table: _table, ...summary }: CaseResult): CaseSummary {
  return summary;
}

/** Counts what cases did as they end. */
export class Tally {
  runs = 0;
  events = 0;
  simulatedMs = 0;
  readonly failed: CaseSummary[] = [];
  private readonly eventsPerRun: number[] = [];
  private readonly sums: Readonly<Record<keyof Coverage, Map<string, number>>> = {
    faults: new Map(),
    transitions: new Map(),
    cells: new Map(),
    pairs: new Map(),
  };

  add(summary: CaseSummary): void {
    this.runs += 1;
    this.events += summary.events;
    this.simulatedMs += summary.simulatedMs;
    this.eventsPerRun.push(summary.events);
    if (summary.violations.length > 0) this.failed.push(summary);
    for (const part of PARTS) addUp(this.sums[part], summary.coverage[part]);
  }

  /** 0 before the first run. */
  get eventsMedian(): number {
    const sorted = [...this.eventsPerRun].sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  }

  get eventsMax(): number {
    return this.eventsPerRun.reduce((max, count) => Math.max(max, count), 0);
  }

  hits(part: keyof Coverage, name: string): number {
    return this.sums[part].get(name) ?? 0;
  }

  /** Faults that struck, all kinds together. */
  get injected(): number {
    return FAULT_NAMES.reduce((sum, fault) => sum + this.hits('faults', fault), 0);
  }

  /** Kinds with fewer hits than that. */
  faultsBelow(hits: number): readonly FaultName[] {
    return FAULT_NAMES.filter((fault) => this.hits('faults', fault) < hits);
  }

  get pairsMissing(): readonly string[] {
    return PAIRS.map(pairName).filter((name) => this.hits('pairs', name) === 0);
  }

  get transitionsMissing(): readonly string[] {
    return TRANSITIONS.map(transitionName).filter((name) => this.hits('transitions', name) === 0);
  }

  get cellsMissing(): readonly string[] {
    return CELLS.filter((name) => this.hits('cells', name) === 0);
  }
}

const PARTS = ['faults', 'transitions', 'cells', 'pairs'] as const;

function addUp(sums: Map<string, number>, counts: Counts): void {
  for (const [name, count] of Object.entries(counts)) sums.set(name, (sums.get(name) ?? 0) + count);
}
