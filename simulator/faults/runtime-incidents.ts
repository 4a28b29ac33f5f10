/**
 * What happens to runtimes by itself: deaths and their reports, freezes, outages, shortages.
 * Owns the faults that no call of ours causes; must not answer a command.
 */
import type { SandboxId } from '../../core/ids.ts';
import type { IdleWatches } from '../models/idle-watches.ts';
import type { Incarnation, RuntimeModel } from '../models/runtime-model.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import type { FaultName } from './catalogue.ts';
import { figureIn, wholeIn, type Range } from './figures.ts';
import type { Injector } from './injector.ts';
import { Opportunities } from './opportunities.ts';
import type { CallError, Shortage } from './runtime-fates.ts';
import {
  DAEMON_AWAY,
  DRAIN,
  EVENTS_CUT,
  EVENT_LATE,
  EVENT_MS,
  FROZEN_OUTSIDE,
  INTO_RELEASE,
  INTO_SESSION,
  MISTAKEN_FOR,
  RUNTIME_CALL_TIMEOUT_MS,
  SOON_AFTER_BOOT,
} from './runtime-figures.ts';
import { RuntimeSights } from './runtime-sights.ts';

/** Share of the sandboxes that one node holds. */
const NODE_SHARE = 0.4;
/** Incarnations after the first that die at once, too. */
const LOOPS_MAX = 4;

/** What can be wrong with the report of a death; each of them brings a death of its own, too. */
const FLAWS = [
  'runtime_event_lost',
  'runtime_event_repeated',
  'runtime_event_late',
  'runtime_pid_reused',
] as const satisfies readonly FaultName[];
type FlawName = (typeof FLAWS)[number];
interface Flaw {
  readonly fault: FlawName;
  readonly figures: RandomStream;
}

/** The agents of a sandbox, as far as their runtime touches them. */
interface AgentsInside {
  cut(id: SandboxId): void;
  stand(id: SandboxId): void;
  walk(id: SandboxId): void;
}

interface Parts {
  readonly port: ModelPort;
  readonly injector: Injector;
  readonly runtime: RuntimeModel;
  readonly watches: IdleWatches;
  readonly agents: AgentsInside;
  readonly pollMs: number;
}

/** What a fault does when it shows. */
type Run = (figures: RandomStream) => void;
const always = (): boolean => true;

export class RuntimeIncidents {
  private readonly parts: Parts;
  private readonly sights: RuntimeSights;
  private readonly opportunities: Opportunities;
  private readonly booted = new Map<SandboxId, number>();
  private readonly loops = new Map<SandboxId, number>();
  private readonly shortUntil: Record<Shortage, number> = { disk: 0, quota: 0 };
  private eventsCutUntil = 0;
  private awayUntil = 0;

  constructor(parts: Parts) {
    this.parts = parts;
    const { port, injector, runtime, watches } = parts;
    this.opportunities = new Opportunities(port, injector);
    this.sights = new RuntimeSights({ port, opportunities: this.opportunities, runtime, watches });
  }

  /** An incarnation is up: what will happen to it, and on this occasion to all, is decided now. */
  started(incarnation: Incarnation): void {
    const { sandboxId, generation } = incarnation;
    if ((this.booted.get(sandboxId) ?? 0) >= generation) return;
    this.booted.set(sandboxId, generation);
    const { runtime } = this.parts;
    const where = `${sandboxId}/${generation}`;
    const about = { machine: 'sandbox', id: sandboxId } as const;
    const isUp = (): boolean => runtime.isUp(sandboxId, generation);
    /** What finds nothing left to strike has not struck. */
    const later = (fault: FaultName, range: Range, can: () => boolean, run: Run): void => {
      const planned = this.opportunities.plans(fault, where, about);
      if (planned === null) return;
      this.opportunities.after(figureIn(range, planned.figures), () => {
        if (!can()) return;
        planned.strike(this.parts.port.now());
        run(planned.figures);
      });
    };
    const session = (fault: FaultName, run: Run, can = isUp): void => later(fault, INTO_SESSION, can, run);
    session('runtime_killed', () => this.dies(sandboxId, 'out of memory'));
    session('runtime_stopped_outside', () => this.dies(sandboxId, 'stopped from outside'));
    for (const fault of FLAWS)
      session(fault, (figures) => this.dies(sandboxId, 'out of memory', { fault, figures }));
    later('agent_crash_loop', SOON_AFTER_BOOT, isUp, (figures) => this.loop(sandboxId, figures));
    later(
      'runtime_removed',
      INTO_RELEASE,
      () => runtime.hasStorage(sandboxId),
      () => this.vanishes(sandboxId),
    );
    session('runtime_frozen_outside', (figures) => this.freeze(sandboxId, figureIn(FROZEN_OUTSIDE, figures)));
    session('runtime_unreachable', (figures) => this.goAway(figureIn(DAEMON_AWAY, figures)), always);
    session('runtime_daemon_restart', () => this.restart(), always);
    session('runtime_node_drained', (figures) => this.drain(figures), always);
    session('runtime_events_cut', (figures) => this.cutEvents(figureIn(EVENTS_CUT, figures)), always);
  }

  /** An incarnation was stopped: it may be started again from outside the product. */
  stopped({ sandboxId, generation }: Incarnation): void {
    const about = { machine: 'sandbox', id: sandboxId } as const;
    const where = `${sandboxId}/${generation}`;
    const planned = this.opportunities.plans('runtime_started_outside', where, about);
    if (planned === null) return;
    this.opportunities.after(figureIn(INTO_RELEASE, planned.figures), () => {
      const { runtime, port } = this.parts;
      if (runtime.live.has(sandboxId) || !runtime.hasStorage(sandboxId)) return;
      planned.strike(port.now());
      runtime.foreign.add(sandboxId);
    });
  }

  /** Its Agent Server dies as soon as it has answered, as it did before. */
  isLooping(sandboxId: SandboxId): boolean {
    const left = this.loops.get(sandboxId) ?? 0;
    if (left > 0) this.loops.set(sandboxId, left - 1);
    return left > 0;
  }

  runShort(of: Shortage, forMs: number): void {
    this.shortUntil[of] = Math.max(this.shortUntil[of], this.parts.port.now() + forMs);
  }

  /** Why a call of the runtime cannot be carried out now; null when it can. */
  obstacle(sandboxId: SandboxId, needs: readonly Shortage[]): CallError | null {
    const { runtime, port } = this.parts;
    if (runtime.isAway) return { reason: 'the daemon does not answer', isDefinite: false, afterMs: 0 };
    if (runtime.frozen.has(sandboxId))
      return { reason: 'the sandbox is frozen', isDefinite: false, afterMs: RUNTIME_CALL_TIMEOUT_MS };
    for (const of of needs)
      if (port.now() < this.shortUntil[of])
        return { reason: `there is no ${of} left`, isDefinite: false, afterMs: 0 };
    return null;
  }

  /** Its processes die: the poll that its event causes, or the regular one, sees it. */
  dies(sandboxId: SandboxId, why: string, flaw: Flaw | null = null): void {
    const { runtime, agents } = this.parts;
    runtime.die(sandboxId, why);
    agents.cut(sandboxId);
    const where = `${sandboxId}/death ${this.opportunities.nth(`death/${sandboxId}`)}`;
    const mistaken = this.flawOf('runtime_pid_reused', flaw, { where, sandboxId });
    if (mistaken === null) return this.send(sandboxId, where, flaw);
    runtime.mistaken.add(sandboxId);
    this.opportunities.after(figureIn(MISTAKEN_FOR, mistaken), () => {
      runtime.mistaken.delete(sandboxId);
      this.parts.watches.pollAfter(sandboxId, 0);
    });
  }

  /** A death that has come for its flaw has it; any other death may have one. */
  private flawOf(
    fault: FlawName,
    flaw: Flaw | null,
    { where, sandboxId }: { readonly where: string; readonly sandboxId: SandboxId },
  ): RandomStream | null {
    const about = { machine: 'sandbox', id: sandboxId } as const;
    return flaw?.fault === fault ? flaw.figures : this.opportunities.strikes(fault, where, about);
  }

  heal(): void {
    const { runtime, watches, agents } = this.parts;
    runtime.isAway = false;
    for (const id of runtime.frozen) agents.walk(id);
    runtime.frozen.clear();
    runtime.mistaken.clear();
    this.sights.heal();
    this.loops.clear();
    this.eventsCutUntil = 0;
    this.shortUntil.disk = 0;
    this.shortUntil.quota = 0;
    watches.pollAllAfter(0);
  }

  private vanishes(sandboxId: SandboxId): void {
    const { runtime, agents } = this.parts;
    runtime.vanish(sandboxId);
    agents.cut(sandboxId);
    this.send(sandboxId, `${sandboxId}/death ${this.opportunities.nth(`death/${sandboxId}`)}`, null);
  }

  /** The event of a death, on its way. */
  private send(sandboxId: SandboxId, where: string, flaw: Flaw | null): void {
    const { watches, pollMs, port } = this.parts;
    const death = { where, sandboxId };
    const late = this.flawOf('runtime_event_late', flaw, death);
    const lost = this.flawOf('runtime_event_lost', flaw, death);
    const repeated = this.flawOf('runtime_event_repeated', flaw, death);
    const isMissed = lost !== null || late !== null || port.now() < this.eventsCutUntil;
    // What no event reports the next poll finds.
    watches.pollAfter(sandboxId, isMissed ? pollMs : EVENT_MS);
    for (const again of [late, repeated])
      if (again !== null)
        this.opportunities.after(figureIn(EVENT_LATE, again), () => watches.pollAfter(sandboxId, 0));
  }

  private loop(sandboxId: SandboxId, figures: RandomStream): void {
    this.loops.set(sandboxId, wholeIn(1, LOOPS_MAX, figures));
    this.dies(sandboxId, 'the Agent Server died');
  }

  private freeze(sandboxId: SandboxId, forMs: number): void {
    const { runtime, watches, agents, pollMs } = this.parts;
    runtime.frozen.add(sandboxId);
    agents.stand(sandboxId);
    watches.pollAfter(sandboxId, pollMs);
    this.opportunities.after(forMs, () => {
      if (!runtime.frozen.delete(sandboxId)) return;
      agents.walk(sandboxId);
      watches.pollAfter(sandboxId, 0);
    });
  }

  private goAway(forMs: number): void {
    const { runtime, watches, pollMs, port } = this.parts;
    this.awayUntil = Math.max(this.awayUntil, port.now() + forMs);
    runtime.isAway = true;
    watches.pollAllAfter(pollMs);
    this.opportunities.after(forMs, () => {
      if (port.now() < this.awayUntil) return;
      runtime.isAway = false;
      watches.pollAllAfter(0);
    });
  }

  private restart(): void {
    for (const id of [...this.parts.runtime.live.keys()]) this.dies(id, 'the daemon restarted');
  }

  private drain(figures: RandomStream): void {
    const { runtime } = this.parts;
    for (const id of [...runtime.live.keys()]) {
      if (!figures.happens(NODE_SHARE)) continue;
      this.opportunities.after(figureIn(DRAIN, figures), () => {
        if (runtime.live.has(id)) this.dies(id, 'the node was drained');
      });
    }
  }

  private cutEvents(forMs: number): void {
    const { watches, port } = this.parts;
    this.eventsCutUntil = Math.max(this.eventsCutUntil, port.now() + forMs);
    this.opportunities.after(forMs, () => watches.pollAllAfter(0));
  }
}
