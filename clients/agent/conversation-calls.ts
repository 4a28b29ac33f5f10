/**
 * Conversations of an Agent Server.
 * Owns the endpoints under `/api/conversations`; spelling is in wire.ts, transport in call.ts.
 */
import { hyphenatedUuid, type ConversationId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type {
  AgentConversationRequest,
  AgentConversationView,
  AgentEventPage,
  AgentServer,
  AgentTarget,
} from '../../ports/agent-server.ts';
import { isTooLarge, jsonOf, type Answer, type Caller } from './call.ts';
import { EVENTS_PER_PAGE, JSON_BYTES_MAX, PAGE_BYTES_MAX, PAGE_SHRINK } from './limits.ts';
import { broughtBody } from './surface-calls.ts';
import type { AgentDialect } from './wire.ts';
import {
  eventPageSchema,
  llmBody,
  parseAnswer,
  readError,
  readView,
  secretsBody,
  startBody,
} from './wire.ts';

type ConversationCalls = Pick<
  AgentServer,
  | 'openConversation'
  | 'conversation'
  | 'sendMessage'
  | 'run'
  | 'pause'
  | 'interrupt'
  | 'answerConfirmation'
  | 'events'
  | 'readCallback'
  | 'deleteConversation'
>;

const BASE = '/api/conversations';

export function createConversationCalls(call: Caller, dialect: AgentDialect): ConversationCalls {
  const command = async (target: AgentTarget, order: Command): Promise<void> => {
    const { id, verb, json, headers = {}, accepted = [] } = order;
    const path = `${pathOf(id)}/${verb}`;
    const body = json === undefined ? {} : { json };
    if (order.isGiven === true) await call(target, { method: 'POST', path, ...body, headers, accepted });
    else
      refuseUnknown(
        await call(target, { method: 'POST', path, ...body, accepted: [...accepted, 400] }),
        path,
      );
  };
  return {
    openConversation: (target, request) => openConversation(call, target, { dialect, request }),
    async conversation(target, id) {
      const answer = await call(target, { method: 'GET', path: pathOf(id), accepted: [404] });
      const view = answer.status === 404 ? null : readView(jsonOf(answer));
      return view === null ? null : await complete(call, target, view);
    },
    sendMessage(target, id, { messageId, text, run }) {
      const json = { role: 'user', content: [{ type: 'text', text }], run };
      const headers = { 'idempotency-key': messageId };
      return command(target, { id, verb: 'events', json, headers, isGiven: true });
    },
    // 409: it runs already, which is what the caller wants.
    // What waits for the user is answered by `answerConfirmation` only (D8).
    run: (target, id) =>
      command(target, { id, verb: 'run', json: { approve_pending: false }, accepted: [409] }),
    pause: (target, id) => command(target, { id, verb: 'pause' }),
    interrupt: (target, id) => command(target, { id, verb: 'interrupt' }),
    answerConfirmation: (target, id, answer) =>
      command(target, { id, verb: 'events/respond_to_confirmation', json: answer, isGiven: true }),
    events: (target, id, pageId) => readEvents(call, { target, id, pageId }),
    readCallback: readView,
    async deleteConversation(target, id) {
      // Older servers say 400 for one that does not exist.
      await call(target, { method: 'DELETE', path: pathOf(id), accepted: [400, 404] });
    },
  };
}

interface Command {
  readonly id: ConversationId;
  readonly verb: string;
  readonly json?: unknown;
  /** The body holds what a caller gave, so that a 400 may mean it. */
  readonly isGiven?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly accepted?: readonly number[];
}

function pathOf(id: ConversationId): string {
  return `${BASE}/${hyphenatedUuid(id)}`;
}

/** Where nothing was sent that could be malformed, an older server's 400 means an unknown conversation. */
function refuseUnknown(answer: Answer, path: string): void {
  if (answer.status !== 400) return;
  throw new ParleyError(
    'not_found',
    `Cannot call "POST ${path}": the Agent Server knows no such conversation`,
  );
}

interface Opening {
  readonly request: AgentConversationRequest;
  readonly dialect: AgentDialect;
}

/** 201: made now. 200: it existed, and after a restart it has neither model key nor secrets. */
async function openConversation(
  call: Caller,
  target: AgentTarget,
  { request, dialect }: Opening,
): Promise<AgentConversationView> {
  if (dialect === 'openhands' && request.agent !== undefined)
    throw new ParleyError(
      'agent_refused',
      `Cannot open conversation with the agent "${request.agent.name}": a server of OpenHands runs its own`,
    );
  const brought = dialect === 'openhands' ? await broughtBody(call, target, request.workingDir) : {};
  const json = startBody(request, dialect, brought);
  const made = await call(target, { method: 'POST', path: BASE, json });
  if (made.status === 200) await arm(call, target, { request, dialect });
  const view = readView(jsonOf(made));
  if (view !== null) return await complete(call, target, view);
  throw new ParleyError(
    'agent_refused',
    `Cannot open conversation "${request.conversationId}": it is being deleted`,
  );
}

/** A used-up limit is an error on the wire; only the error event distinguishes it (D28). */
async function complete(
  call: Caller,
  target: AgentTarget,
  view: AgentConversationView,
): Promise<AgentConversationView> {
  if (view.executionStatus !== 'ERROR' || view.detail !== null) return view;
  const query = { kind: 'ConversationErrorEvent', sort_order: 'TIMESTAMP_DESC', limit: '1' };
  const path = `${pathOf(view.conversationId)}/events/search`;
  const answer = await call(target, { method: 'GET', path, query });
  return { ...view, ...readError(jsonOf(answer)) };
}

async function arm(call: Caller, target: AgentTarget, { request, dialect }: Opening): Promise<void> {
  const path = pathOf(request.conversationId);
  const { apiKey, baseUrl, extraHeaders } = request.llm;
  const json = { api_key: apiKey, base_url: baseUrl, extra_headers: extraHeaders };
  if (dialect === 'reference') {
    await call(target, { method: 'POST', path: `${path}/llm`, json });
  } else {
    // There a whole model replaces the stored one.
    const llm = llmBody(request, dialect);
    await call(target, { method: 'POST', path: `${path}/switch_llm`, json: { llm } });
  }
  if (Object.keys(request.secrets).length === 0) return;
  const secrets = secretsBody(request.secrets);
  await call(target, { method: 'POST', path: `${path}/secrets`, json: { secrets } });
}

async function readEvents(
  call: Caller,
  page: { readonly target: AgentTarget; readonly id: ConversationId; readonly pageId: string | null },
): Promise<AgentEventPage> {
  const answer = await readPage(call, page, EVENTS_PER_PAGE);
  const { items, next_page_id: nextPageId } = parseAnswer(eventPageSchema, jsonOf(answer));
  return { items, nextPageId: nextPageId ?? null, bytes: answer.body.length };
}

/** A few events may be as large as many: a page that is too large is read in smaller pages, down to one event. */
async function readPage(
  call: Caller,
  page: { readonly target: AgentTarget; readonly id: ConversationId; readonly pageId: string | null },
  limit: number,
): Promise<Answer> {
  const query = {
    limit: String(limit),
    sort_order: 'TIMESTAMP',
    ...(page.pageId === null ? {} : { page_id: page.pageId }),
  };
  const path = `${pathOf(page.id)}/events/search`;
  const bytesMax = limit === 1 ? JSON_BYTES_MAX : PAGE_BYTES_MAX;
  try {
    return await call(page.target, { method: 'GET', path, query, bytesMax });
  } catch (error) {
    if (limit === 1 || !isTooLarge(error)) throw error;
    return await readPage(call, page, Math.ceil(limit / PAGE_SHRINK));
  }
}
