/**
 * Callbacks of Agent Servers: events in batches, and where a conversation stands.
 * Owns what a callback causes; it only reports sooner what the slow poll would find anyway.
 */
import { once } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reportOf } from '../activities/agent-report.ts';
import { keepContact } from '../activities/sandbox-contact.ts';
import { appendEvents, restAfter } from '../activities/transcript.ts';
import type { World } from '../activities/world.ts';
import { isActivity } from '../core/sandbox/activity.ts';
import { normalUuid, type SandboxId } from '../core/ids.ts';
import { HeldBytes } from '../core/shares/held-bytes.ts';
import { OwnerCounts } from '../core/shares/owner-counts.ts';
import type { AgentEvent } from '../ports/agent-server.ts';
import type { RefusalNotes } from './refusal-notes.ts';
import { callerOf, type Caller } from './session-auth.ts';

export type WebhookWorld = World;

export interface WebhookRules {
  readonly refusals: RefusalNotes;
  /** Of a batch of events. */
  readonly batchBytesMax: number;
  /** Whether the sandbox may have one more connection, which this one then is. */
  mayConnect(request: FastifyRequest, caller: Caller): boolean;
  /** Called when a bound strikes. */
  readonly onStrike: (text: string) => void;
}

/** Of a conversation's record, which names the conversation: it is read before the key can be judged. */
const RECORD_BYTES_MAX = 256 * 1024;

/** A batch that is larger than may be read, and still answered as taken; beyond it a sandbox sends without end. */
export const PASSED_BYTES_MAX = 64 * 1024 * 1024;

/** Answer of both callbacks; an unknown conversation gets it, too: a late callback changes nothing (D11). */
const SUCCESS = { success: true } as const;

export function registerWebhookRoutes(app: FastifyInstance, world: WebhookWorld, rules: WebhookRules): void {
  const admission = new WebhookAdmission();
  const callers = new WeakMap<FastifyRequest, Caller>();
  app.post('/api/v1/webhooks/events/:conversationId', {
    // Before a byte of the body: a sender without a key sends none (D31).
    onRequest: async (request, reply) => {
      const { conversationId } = request.params as { conversationId: string };
      const caller = await callerIn({ world, rules }, conversationId, request, reply);
      if (caller === null) return reply;
      const wanted = { ...lengthOf(request), bytesMax: rules.batchBytesMax };
      const leave = admission.enter(caller.sandboxId, wanted);
      if (leave === null) return tooMany(rules, reply, `sandbox "${caller.sandboxId}"`);
      restAfterClose(request, reply, leave);
      const bytes = Number(request.headers['content-length']);
      if (bytes > rules.batchBytesMax && bytes <= PASSED_BYTES_MAX) {
        rules.onStrike(
          `Cannot read a callback of sandbox "${caller.sandboxId}": more than ${rules.batchBytesMax} bytes; the poll finds its events`,
        );
        return await passOver(request, reply);
      }
      callers.set(request, caller);
      return undefined;
    },
    handler: async (request, reply) => {
      const caller = callers.get(request);
      return caller === undefined ? reply : takeEvents(world, caller, request.body);
    },
  });
  app.post('/api/v1/webhooks/conversations', {
    bodyLimit: RECORD_BYTES_MAX,
    onRequest: async (request, reply) => {
      const leave = admission.enterUnjudged({ ...lengthOf(request), bytesMax: RECORD_BYTES_MAX });
      if (leave === null) return tooMany(rules, reply, 'callers without a key');
      reply.raw.once('close', leave);
      return undefined;
    },
    handler: async (request, reply) => {
      const id = (request.body as { id?: unknown } | null)?.id;
      const caller = await callerIn({ world, rules }, typeof id === 'string' ? id : '', request, reply);
      if (caller === null) return reply;
      return takeConversation(world, caller, request.body);
    },
  });
}

/** A batch of less takes too little to rest after it. */
const RESTED_MS_MIN = 250;

/** As with readings: a large batch keeps its place for a while after the answer, so that its garbage is collected. */
function restAfterClose({ raw }: FastifyRequest, reply: FastifyReply, leave: () => void): void {
  const before = raw.socket.bytesRead;
  reply.raw.once('close', () => {
    const restMs = restAfter(raw.socket.bytesRead - before);
    if (restMs < RESTED_MS_MIN) leave();
    else setTimeout(leave, restMs).unref();
  });
}

/**
 * Bytes that are not stored. The answer is that of a batch that was taken: there are senders that keep what was
 * refused, put it before all that follows, and send it again.
 */
async function passOver({ raw }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  await once(raw.resume(), 'end').catch(() => undefined);
  return reply.send(SUCCESS);
}

function lengthOf({ headers }: FastifyRequest): { readonly contentLength: string | undefined } {
  return { contentLength: headers['content-length'] };
}

function tooMany(rules: WebhookRules, reply: FastifyReply, whose: string): FastifyReply {
  rules.onStrike(`Cannot take callbacks of ${whose}: more are under way than the bound; the poll finds them`);
  return reply
    .code(429)
    .header('retry-after', '1')
    .send({ detail: 'Too many callbacks at once', code: 'queue_full' });
}

/** Null when the answer has been sent already. */
async function callerIn(
  { world, rules }: { readonly world: WebhookWorld; readonly rules: WebhookRules },
  conversationId: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller | null> {
  const key = request.headers['x-session-api-key'];
  const caller = await callerOf(world, conversationId, typeof key === 'string' ? key : undefined);
  if (caller === 'unknown') {
    void reply.send(SUCCESS);
    return null;
  }
  if (caller === 'refused') {
    await rules.refusals.note({ about: `webhook of ${normalUuid(conversationId)}`, status: 401 });
    void reply.code(401).send({ detail: 'Unauthorized', code: 'unauthorized' });
    return null;
  }
  if (rules.mayConnect(request, caller)) return caller;
  void reply.header('connection', 'close');
  tooMany(rules, reply, `sandbox "${caller.sandboxId}"`);
  return null;
}

async function takeEvents(world: WebhookWorld, caller: Caller, body: unknown): Promise<typeof SUCCESS> {
  const events = Array.isArray(body) ? body.filter(isEvent) : [];
  await appendEvents(world, caller.conversationId, events);
  const counting = events.map(({ kind }) => ({ kind: 'event', event: kind }) as const).find(isActivity);
  if (counting !== undefined) await keepContact(world, caller.sandboxId, counting);
  return SUCCESS;
}

function isEvent(value: unknown): value is AgentEvent {
  if (typeof value !== 'object' || value === null) return false;
  const event = value as Record<string, unknown>;
  return (
    typeof event.id === 'string' && typeof event.timestamp === 'string' && typeof event.kind === 'string'
  );
}

async function takeConversation(world: WebhookWorld, caller: Caller, body: unknown): Promise<typeof SUCCESS> {
  const view = world.agent.readCallback(body);
  if (view === null) return SUCCESS;
  await world.notifier.deliver({
    to: { machine: 'conversation', id: caller.conversationId },
    event: { type: 'agentReported', commandId: null, report: reportOf(view, caller.generation) },
  });
  return SUCCESS;
}

/** Bodies of one sandbox at a time: each of its conversations has one batch on its way. */
export const BODIES_PER_SANDBOX_MAX = 20;
/** Of all together. */
export const BODIES_MAX = 100;
/**
 * Bytes of bodies of one sandbox: one batch at its largest, and ordinary ones without end. Read as JSON, redacted and
 * stored, a batch takes some fifteen times its size before it is garbage.
 */
export const BODY_BYTES_PER_SANDBOX_MAX = 2 * 1024 * 1024;
/** Of all together; read as JSON they take a few times as much. */
const BODY_BYTES_ALL_MAX = 16 * 1024 * 1024;
/** Bytes of records, which name their conversation and so come before a key can be judged. */
const UNJUDGED_BYTES_MAX = 8 * 1024 * 1024;

/** What one callback will send, as its header says; one without a length may send as much as the route takes. */
interface WantedBody {
  readonly contentLength: string | undefined;
  readonly bytesMax: number;
}

/** How much the sandboxes may have under way at the callback socket, each and all together (D31). */
export class WebhookAdmission {
  readonly #bodies = new OwnerCounts();
  readonly #bytes = new HeldBytes({ max: BODY_BYTES_ALL_MAX, perOwnerMax: BODY_BYTES_PER_SANDBOX_MAX });
  readonly #unjudged = new HeldBytes({ max: UNJUDGED_BYTES_MAX, perOwnerMax: UNJUDGED_BYTES_MAX });

  /** Null when there are too many; else the one call that gives the place back. */
  enter(id: SandboxId, wanted?: WantedBody): (() => void) | null {
    if (this.#bodies.of(id) >= BODIES_PER_SANDBOX_MAX || this.#bodies.all >= BODIES_MAX) return null;
    const hold = this.#bytes.hold(id);
    if (!hold.take(wanted === undefined ? 0 : bytesOf(wanted))) return null;
    this.#bodies.add(id, 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      hold.release();
      this.#bodies.add(id, -1);
    };
  }

  /** The same for a body that is read before its sandbox is known. */
  enterUnjudged(wanted: WantedBody): (() => void) | null {
    const hold = this.#unjudged.hold('');
    return hold.take(bytesOf(wanted)) ? () => hold.release() : null;
  }
}

function bytesOf({ contentLength, bytesMax }: WantedBody): number {
  const said = Number(contentLength);
  return contentLength !== undefined && said >= 0 && said <= bytesMax ? said : bytesMax;
}
