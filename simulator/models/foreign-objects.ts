/**
 * Runtime objects that stand beside the incarnations: left by a start that failed, or started by somebody else.
 * Owns them and the sweep that removes them. The sweep is an assumption on runtimes, not a rule of core/: a runtime
 * removes what it finds under our label and never started for us, once it saw it in two sweeps in a row.
 */
import type { SandboxId } from '../../core/ids.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { ModelPort } from '../model-port.ts';

/** Between two sweeps; only one sighting per sweep counts, however often a list shows the object. */
const SWEEP_MS = MINUTE_MS;
const SIGHTINGS_MIN = 2;

/** How often a list shows an object: left out, once, or twice. */
export type Listing = (id: SandboxId, sweep: number) => 0 | 1 | 2;

export class ForeignObjects {
  /** What a list shows; a fault may show less or more. */
  listing: Listing = () => 1;
  /** Sweeps in a row that saw the object. */
  private readonly seen = new Map<SandboxId, number>();
  private readonly port: ModelPort;
  private sweeps = 0;
  private isArmed = false;

  constructor(port: ModelPort) {
    this.port = port;
  }

  has(id: SandboxId): boolean {
    return this.seen.has(id);
  }

  ids(): Iterable<SandboxId> {
    return this.seen.keys();
  }

  add(id: SandboxId): void {
    this.seen.set(id, 0);
    this.arm();
  }

  remove(id: SandboxId): void {
    this.seen.delete(id);
  }

  private arm(): void {
    if (this.isArmed) return;
    this.isArmed = true;
    this.port.later(null, this.port.now() + SWEEP_MS, () => this.sweep());
  }

  private sweep(): void {
    this.isArmed = false;
    this.sweeps += 1;
    for (const [id, before] of this.seen) {
      const sightings = this.listing(id, this.sweeps) === 0 ? 0 : before + 1;
      if (sightings >= SIGHTINGS_MIN) this.seen.delete(id);
      else this.seen.set(id, sightings);
    }
    if (this.seen.size > 0) this.arm();
  }
}
