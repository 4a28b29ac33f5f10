/**
 * Looks for lost workflows again and again, one sweep at a time.
 * Owns when, and what is said of a sweep: each entity that was let go, and what keeps a sweep from its work, at its first
 * sight and again after it went well. What a sweep does is in lost-entities.ts.
 */
import type { LostEntities } from './lost-entities.ts';

export interface SweepOptions {
  /** Whether it is this process's to look: of many, one does. */
  readonly leads: () => boolean;
  readonly tell: (text: string) => void;
}

/** Often enough that what was ended by hand is let go a minute later; a sweep costs one listing. */
const SWEEP_EVERY_MS = 60_000;

/** Looks again and again for entities that no workflow leads. */
export class LostSweeps {
  private readonly lost: Pick<LostEntities, 'sweep'>;
  private readonly options: SweepOptions;
  private underWay: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;
  private failing = new Set<string>();

  constructor(lost: Pick<LostEntities, 'sweep'>, options: SweepOptions) {
    this.lost = lost;
    this.options = options;
  }

  start(): void {
    void this.sweep();
    this.timer = setInterval(() => void this.sweep(), SWEEP_EVERY_MS);
  }

  /** Resolves once no sweep is under way. */
  async stop(): Promise<void> {
    clearInterval(this.timer ?? undefined);
    await this.underWay;
  }

  /** One that takes longer than the time between two is not begun again beside itself. */
  sweep(): Promise<void> {
    this.underWay ??= this.once().finally(() => (this.underWay = null));
    return this.underWay;
  }

  private async once(): Promise<void> {
    if (!this.options.leads()) return;
    const failing = new Set<string>();
    const failed = (what: string, error: unknown): void => {
      failing.add(what);
      if (!this.failing.has(what)) this.options.tell(`Cannot ${what}: ${messageOf(error)}`);
    };
    try {
      const mended = await this.lost.sweep((id, error) => failed(`let ${id} go`, error));
      for (const id of mended)
        this.options.tell(`${id} was ended from outside: its record says so, and what it had is let go`);
    } catch (error) {
      failed('look for workflows that were ended from outside', error);
    }
    this.failing = failing;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
