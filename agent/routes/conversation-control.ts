/**
 * Commands of a caller to a conversation's agent, and what the agent is given to carry them out.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { finalResponse } from '../loop/action-step.ts';
import {
  armLlm,
  setConfirmationPolicy,
  setSecurityAnalyzer,
  switchLlm,
} from '../conversation/conversation-commands.ts';
import { HttpError } from '../serve/http-error.ts';
import { LlmError } from '../model/llm-error.ts';
import type { ServerContext } from '../serve/server-context.ts';
import { apiKeySchema, baseUrlSchema, llmSchema } from '../conversation/start-request.ts';
import {
  confirmationPolicySchema,
  headersSchema,
  parsePart,
  secretsSchema,
  securityAnalyzerSchema,
} from '../serve/wire-schema.ts';
import { SUCCESS, findConversation } from './find-conversation.ts';

const questionSchema = z.object({ question: z.string().min(1).max(100_000) });

/** False starts nothing that waits for the user. */
const runSchema = z.object({ approve_pending: z.boolean().default(true) });

const llmAccessSchema = z.object({
  api_key: apiKeySchema,
  base_url: baseUrlSchema.nullish(),
  extra_headers: headersSchema.nullish(),
});

export function addControlRoutes(server: FastifyInstance, context: ServerContext): void {
  server.post('/api/conversations/:id/run', (request) => {
    const { run, conversation } = findConversation(context, request);
    const { approve_pending: approves } = parsePart(runSchema, request.body ?? {}, 'body');
    // To clients of the reference, running what waits is how its actions are accepted.
    const isApproval = approves && conversation.status === 'waiting_for_confirmation';
    if (run.start(isApproval ? 'approval' : 'request') === 'already_running') {
      throw new HttpError(409, 'Conversation already running. Wait for completion or pause first.');
    }
    return SUCCESS;
  });
  server.post('/api/conversations/:id/pause', (request) => {
    findConversation(context, request).run.pause();
    return SUCCESS;
  });
  server.post('/api/conversations/:id/interrupt', async (request) => {
    await findConversation(context, request).run.abort('user');
    return SUCCESS;
  });
  server.post('/api/conversations/:id/secrets', (request) => {
    const { conversation } = findConversation(context, request);
    const { secrets } = parsePart(z.object({ secrets: secretsSchema }), request.body, 'body');
    context.vault.set(conversation.id, secrets);
    return SUCCESS;
  });
  server.post('/api/conversations/:id/llm', (request) => {
    const { conversation } = findConversation(context, request);
    const body = parsePart(llmAccessSchema, request.body, 'body');
    const access = {
      apiKey: body.api_key,
      baseUrl: body.base_url ?? null,
      extraHeaders: body.extra_headers ?? null,
    };
    armLlm(conversation, access, context.vault);
    return SUCCESS;
  });
  server.post('/api/conversations/:id/confirmation_policy', (request) => {
    const entry = findConversation(context, request);
    const { policy } = parsePart(z.object({ policy: confirmationPolicySchema }), request.body, 'body');
    setConfirmationPolicy(entry, policy);
    return SUCCESS;
  });
  server.post('/api/conversations/:id/security_analyzer', (request) => {
    const entry = findConversation(context, request);
    const schema = z.object({ security_analyzer: securityAnalyzerSchema.nullable() });
    const { security_analyzer: analyzer } = parsePart(schema, request.body, 'body');
    setSecurityAnalyzer(entry, analyzer?.kind ?? null);
    return SUCCESS;
  });
  server.post('/api/conversations/:id/switch_llm', (request) => {
    const entry = findConversation(context, request);
    const { llm } = parsePart(z.object({ llm: llmSchema }), request.body, 'body');
    if (llm.api_key !== null) context.vault.mask(entry.conversation.id, llm.api_key);
    switchLlm(entry, llm, context.vault);
    return SUCCESS;
  });
  addModelRoutes(server, context);
}

/** Requests to the model outside of a run. */
function addModelRoutes(server: FastifyInstance, context: ServerContext): void {
  server.post('/api/conversations/:id/ask_agent', async (request) => {
    const { run } = findConversation(context, request);
    const { question } = parsePart(questionSchema, request.body, 'body');
    const response = await run.ask(question, context.stopping).catch(tellModelError);
    return { response: context.vault.text(response) };
  });
  server.post('/api/conversations/:id/condense', async (request) => {
    const { run } = findConversation(context, request);
    if ((await run.condense(context.stopping).catch(tellModelError)) === 'busy')
      throw new HttpError(409, 'Conversation is running. Wait for completion or pause first.');
    return SUCCESS;
  });
  server.get('/api/conversations/:id/agent_final_response', (request) => {
    return { response: finalResponse(findConversation(context, request).conversation) };
  });
}

/** @throws HttpError 502 the model gave no answer */
function tellModelError(error: unknown): never {
  if (error instanceof LlmError) throw new HttpError(502, error.message);
  throw error;
}
