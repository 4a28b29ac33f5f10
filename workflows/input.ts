/**
 * What an entity steps on: an envelope, the answer to a command, or its deadline, with the instant at which it counts; and
 * that its clock was set, which is no step.
 * Owns the order in which what came together is taken; must not know what it means.
 */
import { condition } from '@temporalio/workflow';
import type { MachineEvent } from '../core/machine/command.ts';
import { inputInPresentNames } from '../core/machine/former-names.ts';
import type { Envelope } from './envelope.ts';

export type News =
  | { readonly kind: 'answer'; readonly commandId: string; readonly event: MachineEvent | null }
  | { readonly kind: 'envelope'; readonly envelope: Envelope }
  /** The clock was set by so much. */
  | { readonly kind: 'clock'; readonly byMs: number }
  | { readonly kind: 'deadline' };

/** `at`: epoch milliseconds of the workflow's clock. */
export type Input = News & { readonly at: number };

/** What came and was not taken yet. */
export class Inbox {
  private readonly clocks: News[] = [];
  private readonly answers: News[] = [];
  private readonly envelopes: News[] = [];
  private hasStruck = false;
  private came = 0;

  get isEmpty(): boolean {
    return this.clocks.length + this.answers.length + this.envelopes.length === 0 && !this.hasStruck;
  }

  /** Until something comes, and no longer than that. */
  async news(waitMs: number): Promise<void> {
    const before = this.came;
    await condition(() => this.came > before, waitMs);
  }

  /** Under the names of today, whichever build said it. */
  put(said: News): void {
    const news = inputInPresentNames(said);
    this.came += 1;
    switch (news.kind) {
      case 'clock':
        this.clocks.push(news);
        return;
      case 'answer':
        this.answers.push(news);
        return;
      case 'envelope':
        this.envelopes.push(news);
        return;
      case 'deadline':
        this.hasStruck = true;
    }
  }

  /** The clock, then answers, envelopes, and the deadline, each in the order in which it came. */
  take(at: number): readonly Input[] {
    const struck: readonly News[] = this.hasStruck ? [{ kind: 'deadline' }] : [];
    this.hasStruck = false;
    const news = [
      ...this.clocks.splice(0),
      ...this.answers.splice(0),
      ...this.envelopes.splice(0),
      ...struck,
    ];
    return news.map((one) => ({ ...one, at }));
  }

  /** The next of a kind, before its turn; null when there is none. */
  takeOne(kind: News['kind']): News | null {
    switch (kind) {
      case 'clock':
        return this.clocks.shift() ?? null;
      case 'answer':
        return this.answers.shift() ?? null;
      case 'envelope':
        return this.envelopes.shift() ?? null;
      case 'deadline': {
        if (!this.hasStruck) return null;
        this.hasStruck = false;
        return { kind };
      }
    }
  }

  /** What was taken and is to be taken again, before anything that came since. */
  putBack(inputs: readonly Input[]): void {
    for (const { at: _at, ...news } of [...inputs].reverse()) {
      if (news.kind === 'answer') this.answers.unshift(news);
      else if (news.kind === 'envelope') this.envelopes.unshift(news);
      else if (news.kind === 'clock') this.clocks.unshift(news);
      else this.hasStruck = true;
    }
  }
}
