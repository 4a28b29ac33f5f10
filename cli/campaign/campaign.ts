/**
 * A campaign: seed after seed on every player until the time is over, added up on the way.
 * Owns the loop, the second plays and the end; must not print.
 */
import { SeedOrder } from '../../simulator/campaign/seed-order.ts';
import { Tally, type CaseSummary } from '../../simulator/campaign/tally.ts';
import type { Clock } from '../../ports/clock.ts';
import { playHere, type Player } from './player.ts';

export interface CampaignOptions {
  readonly players: readonly Player[];
  readonly clock: Clock;
  /** First seed. */
  readonly from: number;
  /** Cases at most; null for no bound. */
  readonly runsMax: number | null;
  /** Time at most, in milliseconds; null for no bound. */
  readonly forMs: number | null;
  /** True: ends as soon as every kind and pair has its hits. */
  readonly untilCovered: boolean;
  /** True: seed by seed, the same ones on any machine. False: what is behind first, as far as it was played by then. */
  readonly inOrder: boolean;
}

/** A second play of a seed that did not give the same. */
export interface Unequal {
  readonly seed: number;
  readonly hashes: readonly [string, string];
}

/** One in so many cases is played a second time. */
const AGAIN_EVERY = 100;

export class Campaign {
  readonly tally = new Tally();
  readonly unequal: Unequal[] = [];
  /** Second plays, and those of them that ran in another process than the first. */
  readonly again = { played: 0, elsewhere: 0 };
  readonly beganAt: number;
  private readonly options: CampaignOptions;
  private readonly order: SeedOrder;
  private stopped = false;
  private begun = 0;

  constructor(options: CampaignOptions) {
    this.options = options;
    this.order = new SeedOrder(options.from);
    this.beganAt = options.clock.now();
  }

  /** Milliseconds since the beginning. */
  get tookMs(): number {
    return this.options.clock.now() - this.beganAt;
  }

  /** What is being played is played to its end. */
  stop(): void {
    this.stopped = true;
  }

  async run(): Promise<void> {
    await Promise.all(this.options.players.map((player) => this.keepPlaying(player)));
  }

  private async keepPlaying(player: Player): Promise<void> {
    while (!this.isOver()) {
      this.begun += 1;
      const number = this.begun;
      const summary = await player.play(this.seedOf(number));
      this.tally.add(summary);
      if (number % AGAIN_EVERY === 1) await this.playAgain(player, summary);
    }
  }

  /** Of the case that is begun as the `number`-th, from 1. */
  private seedOf(number: number): number {
    const { inOrder, from } = this.options;
    return inOrder ? from + number - 1 : this.order.take(this.tally);
  }

  private isOver(): boolean {
    const { runsMax, forMs, untilCovered } = this.options;
    if (this.stopped || (runsMax !== null && this.begun >= runsMax)) return true;
    if (forMs !== null && this.tookMs >= forMs) return true;
    return untilCovered && this.tally.runs > 0 && this.order.isCovered(this.tally);
  }

  /** By turns in the process of the first play, and in the one that runs the campaign. */
  private async playAgain(player: Player, first: CaseSummary): Promise<void> {
    this.again.played += 1;
    const elsewhere = this.again.played % 2 === 0;
    if (elsewhere) this.again.elsewhere += 1;
    const second = elsewhere ? playHere(first.seed) : await player.play(first.seed);
    if (second.hash !== first.hash)
      this.unequal.push({ seed: first.seed, hashes: [first.hash, second.hash] });
  }
}
