/**
 * What a caller tells a conversation's agent to do, and what it is given to do it with.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { finalResponse } from '../action-step.ts';
import { armLlm, setConfirmationPolicy } from '../conversation-commands.ts';
import { HttpError } from '../http-error.ts';
import type { ServerContext } from '../server-context.ts';
import { apiKeySchema, baseUrlSchema } from '../start-request.ts';
import { confirmationPolicySchema, headersSchema, parsePart, secretsSchema } from '../wire-schema.ts';
import { SUCCESS, findConversation } from './find-conversation.ts';

const llmAccessSchema = z.object({
  api_key: apiKeySchema,
  base_url: baseUrlSchema.nullish(),
  extra_headers: headersSchema.nullish(),
});

export function addControlRoutes(server: FastifyInstance, context: ServerContext): void {
  server.post('/api/conversations/:id/run', (request) => {
    if (findConversation(context, request).run.start('request') === 'already_running') {
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
  server.get('/api/conversations/:id/agent_final_response', (request) => {
    return { response: finalResponse(findConversation(context, request).conversation) };
  });
}
