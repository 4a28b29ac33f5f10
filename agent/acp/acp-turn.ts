/**
 * One turn of an agent: from a prompt to its stop reason, with the permissions that it requests on the way.
 * Owns what waits for what while a turn goes on. What a request for permission means is decided in acp-session.ts.
 */
import type { CallState } from './tool-calls.ts';

export type PermissionOutcome =
  { readonly outcome: 'cancelled' } | { readonly outcome: 'selected'; readonly optionId: string };

export interface PermissionOption {
  readonly optionId: string;
  readonly kind: string;
}

interface Asking {
  readonly call: CallState;
  readonly actionId: string;
  readonly options: readonly PermissionOption[];
  readonly answer: (outcome: PermissionOutcome) => void;
}

type TurnNews =
  | { readonly kind: 'recorded' }
  | { readonly kind: 'asked' }
  | { readonly kind: 'ended'; readonly stopReason: string }
  | { readonly kind: 'failed'; readonly error: unknown };

export class AcpTurn {
  #waiting: Asking[] = [];
  #news: TurnNews[] = [];
  #wake: () => void = () => undefined;
  #end: TurnNews | null = null;
  /** No permission is granted any more: a cancel was requested. */
  isCancelled = false;
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>;

  constructor(stopReason: Promise<string>) {
    this.ended = stopReason.then(
      (reason) => this.#finish({ kind: 'ended', stopReason: reason }),
      (error: unknown) => this.#finish({ kind: 'failed', error }),
    );
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** What it failed with; null while it goes on, and when it ended by itself. */
  get failure(): unknown {
    return this.#end?.kind === 'failed' ? this.#end.error : null;
  }

  get heldActionIds(): readonly string[] {
    return this.#waiting.map(({ actionId }) => actionId);
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  tell(news: TurnNews): void {
    if (news.kind !== 'recorded' || this.#news.at(-1)?.kind !== 'recorded') this.#news.push(news);
    this.#wake();
  }

  /** Waits for the next news; once the turn has ended, every call returns its end. @throws the signal's reason */
  async next(signal: AbortSignal): Promise<TurnNews> {
    for (;;) {
      signal.throwIfAborted();
      const news = this.#news.shift() ?? this.#end;
      if (news !== null && news !== undefined) return news;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#wake = wake;
        signal.addEventListener('abort', wake, { once: true });
      });
    }
  }

  /** Resolves with the answer. */
  hold(given: Omit<Asking, 'answer'>): Promise<PermissionOutcome> {
    return new Promise((resolve) => {
      this.#waiting.push({ ...given, answer: resolve });
      this.tell({ kind: 'asked' });
    });
  }

  /** Everything that waits, once. */
  approveAll(): void {
    for (const asking of this.#take()) asking.answer(allowed(asking.options));
  }

  /** Returns the calls that were refused. */
  refuseAll(): readonly CallState[] {
    const taken = this.#take();
    for (const asking of taken) asking.answer(refused(asking.options));
    return taken.map(({ call }) => call);
  }

  cancelAll(): void {
    for (const { answer } of this.#take()) answer({ outcome: 'cancelled' });
  }

  #take(): Asking[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  #finish(end: TurnNews): void {
    this.#end = end;
    this.cancelAll();
    this.#wake();
  }
}

/** Once rather than for ever: the agent requests permission for the next one again. */
export function allowed(options: readonly PermissionOption[]): PermissionOutcome {
  return selected(options, ['allow_once', 'allow_always']);
}

export function refused(options: readonly PermissionOption[]): PermissionOutcome {
  return selected(options, ['reject_once', 'reject_always']);
}

/** An agent that offers no such option gets none: what was not offered cannot be chosen. */
function selected(options: readonly PermissionOption[], kinds: readonly string[]): PermissionOutcome {
  const [found] = kinds.flatMap((kind) => options.filter((option) => option.kind === kind));
  return found === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: found.optionId };
}
