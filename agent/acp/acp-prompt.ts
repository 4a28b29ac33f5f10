/**
 * The agent's next prompt: the messages it has not seen, and what it must know of a stop. Pure.
 */
import type { ConversationMeta } from '../conversation/conversation-meta.ts';
import { plainText, type Content, type ConversationEvent, type MessageEvent } from '../conversation/event.ts';

interface PromptBlock {
  readonly type: 'text' | 'image';
  readonly [field: string]: unknown;
}

interface NextPrompt {
  readonly blocks: readonly PromptBlock[];
  /** The newest message in it; what was the newest before when there is none. */
  readonly promptedEventId: string | null;
}

interface PromptFacts {
  readonly meta: ConversationMeta;
  readonly events: readonly ConversationEvent[];
  /** A session without any of the messages before it. */
  readonly isFresh: boolean;
  readonly takesImages: boolean;
  readonly notes: readonly string[];
}

/** Earlier messages are repeated to a session that has lost them, up to so many characters. */
const RETOLD_CHARS_MAX = 20_000;

export function nextPrompt(facts: PromptFacts): NextPrompt {
  const { meta, events, isFresh, notes } = facts;
  const prompted = meta.acp?.prompted_event_id ?? null;
  const messages = events.filter(isForAgent);
  const fresh = unseenMessages(meta, events);
  const head = [
    ...(isFresh && meta.system_suffix !== '' ? [meta.system_suffix] : []),
    ...(isFresh && prompted !== null ? [retold(messages.filter((event) => !fresh.includes(event)))] : []),
    ...notes,
  ];
  const last = messages.at(-1);
  const goOn =
    fresh.length > 0 || last === undefined
      ? []
      : [`Go on with what you were asked, from where you stopped:\n\n${plainText(last.llm_message.content)}`];
  return {
    blocks: [
      ...[...head, ...goOn].map(textBlock),
      ...fresh.flatMap(({ llm_message: { content }, extended_content: extended }) =>
        [...content, ...extended].flatMap((part) => blocksOf(part, facts.takesImages)),
      ),
    ],
    promptedEventId: fresh.at(-1)?.id ?? prompted,
  };
}

/** The messages the agent was not sent yet, in order. */
export function unseenMessages(
  { acp }: Pick<ConversationMeta, 'acp'>,
  events: readonly ConversationEvent[],
): MessageEvent[] {
  const givenAt = events.findIndex(({ id }) => id === acp?.prompted_event_id);
  return events.slice(givenAt + 1).filter(isForAgent);
}

function isForAgent(event: ConversationEvent): event is MessageEvent {
  return event.kind === 'MessageEvent' && event.source !== 'agent';
}

function retold(messages: readonly MessageEvent[]): string {
  const texts = messages.map(({ llm_message: { content } }) => plainText(content)).join('\n\n');
  return `You work on this already, but your session was lost, and with it what you remember. The files are as you left them: look at them before you go on. This is what you were told so far:\n\n${texts.slice(-RETOLD_CHARS_MAX)}`;
}

function textBlock(text: string): PromptBlock {
  return { type: 'text', text };
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;

function blocksOf(content: Content, takesImages: boolean): PromptBlock[] {
  if (content.type === 'text') return [textBlock(content.text)];
  return content.image_urls.map((url) => {
    const [, mimeType, data] = DATA_URL.exec(url) ?? [];
    if (!takesImages || mimeType === undefined) return textBlock('[An image that cannot be shown to you]');
    return { type: 'image', mimeType, data };
  });
}
