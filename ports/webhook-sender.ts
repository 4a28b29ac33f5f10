/**
 * Calls another system's server when something has happened.
 * Owns the interface; what is sent, and when, is decided by the caller.
 */
export interface WebhookMessage {
  /** As `WEBHOOK_ADDRESS` has it; it may be a secret, and stands in no error. */
  readonly url: string;
  /** The same for every try at one message, so that a receiver counts it once. */
  readonly id: string;
  /** Epoch milliseconds of this try. */
  readonly at: number;
  /** JSON. */
  readonly body: string;
  /** What the message is signed with; null: unsigned. */
  readonly key: string | null;
  readonly signal: AbortSignal;
}

/** Sends one message to one address. */
export interface WebhookSender {
  /**
   * Resolves when the receiver has answered 2xx; the same message may arrive again.
   * @throws ParleyError notify_failed when a repeat may help (no answer, 408, 425, 429, 5xx), notify_refused else
   */
  send(message: WebhookMessage): Promise<void>;
}
