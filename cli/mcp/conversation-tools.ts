/**
 * Tools about conversations: start one in a sandbox, read its events, send it a message.
 * Owns their shapes and order of calls; what a conversation is belongs to the application API.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Client } from '../../api/client/client.ts';
import { startRequestSchema } from '../../api/conversations/start-request.ts';
import { uuidIn } from '../../api/application/wire.ts';
import { normalUuid } from '../../core/ids.ts';
import {
  answerOut,
  conversationView,
  conversationWords,
  findConversation,
  isAtRest,
  lastAnswer,
  requireConversation,
  type ConversationView,
} from './conversation-view.ts';
import { READS, tool, WORKS, type ToolCall } from './mcp-tool.ts';
import { timeoutIn, waitUntil, type Waited } from './waiting.ts';

interface EventQuery {
  /** Events behind this number. */
  readonly after: number;
  readonly limit: number;
  readonly bytesMax: number;
  /** Null: all. */
  readonly kinds: readonly string[] | null;
  readonly signal: AbortSignal;
}

type EventBody = { readonly kind: string; readonly [field: string]: unknown };

interface EventPage {
  readonly events: { number: number; event: { kind: string; [field: string]: unknown } }[];
  readonly next: number;
  readonly more: boolean;
  readonly shortened: number[];
}

/** Events read in search of the requested kinds; a client that wants more goes on behind them. */
const LOOKED_MAX = 5_000;

/** A page of events that is bounded in number and in bytes, whatever an agent has written. */
async function readEvents(client: Client, id: string, wish: EventQuery): Promise<EventPage> {
  const { after, limit, bytesMax, kinds, signal } = wish;
  const page: EventPage = { events: [], next: after, more: false, shortened: [] };
  const count = await client.countEvents({ params: { conversation_id: id } }, { signal });
  if (after >= count) return page;
  const over = new AbortController();
  const stream = client.events(id, { afterSeq: after, signal: AbortSignal.any([signal, over.signal]) });
  const found: { next: number; bytes: number } = { next: after, bytes: 0 };
  try {
    for await (const { seq, event } of stream) {
      if (kinds === null || kinds.includes(event.kind)) {
        const size = bytesOf(event);
        const isFirst = page.events.length === 0;
        if (!isFirst && found.bytes + size > bytesMax) break;
        const shown = size > bytesMax ? shortened(event, bytesMax) : event;
        if (shown !== event) page.shortened.push(seq);
        page.events.push({ number: seq, event: shown });
        found.bytes += Math.min(size, bytesMax);
      }
      found.next = seq;
      if (seq >= count || page.events.length >= limit || seq - after >= LOOKED_MAX) break;
    }
  } finally {
    over.abort();
  }
  return { ...page, next: found.next, more: found.next < count };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Texts are halved until the whole fits; one that still does not is sent with its kind alone. */
function shortened(event: EventBody, bytesMax: number): EventBody {
  for (let charsMax = bytesMax; charsMax >= 64; charsMax = Math.floor(charsMax / 2)) {
    const cut = cutTexts(event, charsMax) as EventBody;
    if (bytesOf(cut) <= bytesMax) return cut;
  }
  const { id, timestamp, kind } = event;
  return { id, timestamp, kind };
}

function cutTexts(value: unknown, charsMax: number): unknown {
  if (typeof value === 'string')
    return value.length <= charsMax
      ? value
      : `${value.slice(0, charsMax)}… (${value.length - charsMax} characters more)`;
  if (Array.isArray(value)) return value.map((one) => cutTexts(one, charsMax));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, cutTexts(field, charsMax)]));
}

/** A message that is longer is a file. */
const MESSAGE_CHARS_MAX = 100_000;
const messageIn = z.string().regex(/\S/, 'Input should have text').max(MESSAGE_CHARS_MAX);
export const conversationIdIn = uuidIn.describe('Id of the conversation, as "start" and "status" give it.');
const timedOutOut = z
  .boolean()
  .describe('True when the time was over first; it goes on, look with "status".');

const { shape } = startRequestSchema;

const startIn = z.strictObject({
  message: messageIn.describe('The task, complete: the agent in the sandbox knows nothing else.'),
  repository: shape.selected_repository.describe('Repository to work on, as <owner>/<repository>.'),
  branch: shape.selected_branch.describe('Branch to begin at; the default branch when left out.'),
  git_provider: shape.git_provider.describe('Code host, where the deployment has several.'),
  model: shape.llm_model.describe("Model of the agent; the deployment's default when left out."),
  title: shape.title.describe('For people.'),
  tags: shape.tags,
  wait: z
    .enum(['none', 'ready', 'done'])
    .default('ready')
    .describe('What to wait for: nothing, the agent in its sandbox, or the end of its work.'),
  timeout_seconds: timeoutIn,
});

const stateOut = z.object({
  conversation: conversationView,
  answer: answerOut,
  timed_out: timedOutOut,
});

const start = tool({
  name: 'start',
  title: 'Start an agent in a sandbox',
  description:
    'Starts a coding agent on a task in a sandbox of its own, on a repository if one is named. Read how it goes with "status" and "events", answer it with "send", fetch what it changed with "results", stop it with "cancel".',
  annotations: WORKS,
  input: startIn,
  output: stateOut,
  async run(call) {
    const { input, desk, signal } = call;
    const id = normalUuid(randomUUID());
    const body = {
      conversation_id: id,
      initial_message: { content: [{ type: 'text' as const, text: input.message }] },
      selected_repository: input.repository,
      selected_branch: input.branch,
      git_provider: input.git_provider,
      llm_model: input.model,
      title: input.title,
      tags: input.tags,
    };
    // A caller that has left by then finds it by its id.
    await desk.client.startAppConversation({ body }, { signal, idempotencyKey: id });
    const isOver = (view: ConversationView | null): boolean => isStarted(view, input.wait);
    const waited = await waitUntil(call, {
      timeoutSeconds: input.timeout_seconds,
      look: () => findConversation(desk, id, signal),
      isOver,
      words: conversationWords,
    });
    return await stateOf(call, id, waited);
  },
});

function isStarted(view: ConversationView | null, wait: z.output<typeof startIn>['wait']): boolean {
  if (view === null) return false;
  switch (wait) {
    case 'none':
      return true;
    case 'ready':
      return view.start_task_status === 'READY' || view.start_task_status === 'ERROR';
    case 'done':
      return isAtRest(view);
  }
}

async function stateOf(
  { desk, signal }: Pick<ToolCall<unknown>, 'desk' | 'signal'>,
  id: string,
  { state, timedOut }: Waited<ConversationView | null>,
): Promise<z.input<typeof stateOut>> {
  const conversation = state ?? (await requireConversation(desk, id, signal));
  return { conversation, answer: await lastAnswer(desk, id, signal), timed_out: timedOut };
}

const send = tool({
  name: 'send',
  title: 'Send a message to an agent',
  description:
    'Sends a follow-up message to the agent of a conversation. A sandbox that was released is resumed for it; a conversation that still starts gets it when it is ready.',
  annotations: WORKS,
  input: z.strictObject({
    conversation_id: conversationIdIn,
    message: messageIn,
    wait: z
      .enum(['none', 'done'])
      .default('none')
      .describe("What to wait for: nothing, or the end of the agent's work on the message."),
    timeout_seconds: timeoutIn,
  }),
  output: stateOut,
  async run(call) {
    const { input, desk, signal } = call;
    const id = normalUuid(input.conversation_id);
    const before = await requireConversation(desk, id, signal);
    const content = [{ type: 'text' as const, text: input.message }];
    const request = { params: { conversation_id: id }, body: { content } };
    if (before.start_task_status === 'READY') await desk.client.sendMessage(request, { signal });
    else await desk.client.queuePendingMessage(request, { signal });
    const hasMoved = (view: ConversationView): boolean =>
      view.execution_status_at !== before.execution_status_at || view.start_task_status === 'ERROR';
    const waited = await waitUntil<ConversationView>(call, {
      timeoutSeconds: input.timeout_seconds,
      look: () => requireConversation(desk, id, signal),
      isOver: (view) => input.wait === 'none' || (isAtRest(view) && hasMoved(view)),
      words: conversationWords,
    });
    return await stateOf(call, id, waited);
  },
});

/** What a model reads at once without losing its thread. */
const BYTES_DEFAULT = 32 * 1024;
export const BYTES_MIN = 1024;
/** More is a download. */
export const BYTES_MAX = 256 * 1024;
export const bytesIn = z
  .int()
  .min(BYTES_MIN)
  .max(BYTES_MAX)
  .default(BYTES_DEFAULT)
  .describe('Bound on the size of the answer, in bytes.');

const EVENTS_DEFAULT = 50;
const EVENTS_MAX = 500;

const events = tool({
  name: 'events',
  title: 'Read the events of a conversation',
  description:
    'Reads messages, actions, observations and state changes of a conversation in order. Hand "next" back as "after" to go on; works also when the sandbox is gone.',
  annotations: READS,
  input: z.strictObject({
    conversation_id: conversationIdIn,
    after: z
      .int()
      .min(0)
      .default(0)
      .describe('Number of the last event that was read; 0 begins at the start.'),
    limit: z.int().min(1).max(EVENTS_MAX).default(EVENTS_DEFAULT).describe('Events at most.'),
    kinds: z
      .array(z.string().regex(/^[A-Za-z]{1,100}$/))
      .min(1)
      .max(50)
      .nullish()
      .describe('Only these kinds, such as MessageEvent, ActionEvent, ObservationEvent.'),
    max_bytes: bytesIn,
  }),
  output: z.object({
    events: z.array(z.object({ number: z.int(), event: z.looseObject({ kind: z.string() }) })),
    next: z.int().describe('Number of the last event that was looked at: the "after" of the next call.'),
    more: z.boolean().describe('Whether there are more at this moment.'),
    shortened: z
      .array(z.int())
      .describe('Numbers of events of which long texts were cut, because one alone was over the bound.'),
  }),
  async run({ input, desk, signal }) {
    const id = normalUuid(input.conversation_id);
    await requireConversation(desk, id, signal);
    const { after, limit, max_bytes: bytesMax, kinds } = input;
    return await readEvents(desk.client, id, { after, limit, bytesMax, kinds: kinds ?? null, signal });
  },
});

export const CONVERSATION_TOOLS = [start, events, send];
