/**
 * The words of an agent as they come, as partial events: what it says and what it thinks, one answer after the other.
 * Owns which answer they belong to; where they come from is the model's call or the agent's program.
 */
import type { Conversation } from './conversation.ts';
import type { GrowingText } from './growing-text.ts';

interface NewWords {
  /** As the event will name it. */
  readonly responseId: string;
  readonly content: string;
  readonly reasoning: string;
}

export class GrowingWords {
  readonly #conversation: Conversation;
  #responseId = '';
  #content: GrowingText | null = null;
  #reasoning: GrowingText | null = null;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  take({ responseId, content, reasoning }: NewWords): void {
    if (responseId !== this.#responseId) this.end();
    this.#responseId = responseId;
    const of = { kind: 'StreamingDeltaEvent', source: 'agent', llm_response_id: responseId } as const;
    const conversation = this.#conversation;
    this.#content ??= conversation.growing((content) => conversation.tellPartial({ ...of, content }));
    this.#reasoning ??= conversation.growing((piece) =>
      conversation.tellPartial({ ...of, reasoning_content: piece }),
    );
    this.#content.push(content);
    this.#reasoning.push(reasoning);
  }

  /** The event is there, or never will be. */
  end(): void {
    this.#content?.skip();
    this.#reasoning?.skip();
    this.#content = null;
    this.#reasoning = null;
  }
}
