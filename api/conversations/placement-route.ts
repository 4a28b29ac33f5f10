/**
 * Why a conversation is where it is: the decision of its latest placement, as it was stored (D16).
 * Owns the route and the shape.
 */
import { z } from 'zod';
import { DISQUALIFICATIONS } from '../../core/placement/place.ts';
import { placementText } from '../../core/placement/placement-text.ts';
import { GROUPING_STRATEGIES } from '../../core/status.ts';
import { route } from '../application/route.ts';
import { conversationParams, hexId, instantOut, isoInstant } from '../application/wire.ts';
import { findConversation } from './find-conversation.ts';

const placementSchema = z
  .object({
    summary: z.string().meta({ description: 'The decision as one sentence.' }),
    rule: z.enum([...GROUPING_STRATEGIES, 'EXPLICIT']),
    sandbox_id: hexId
      .nullable()
      .meta({ description: 'The one that was there and was chosen; null: a new one.' }),
    seen: z
      .array(z.object({ sandbox_id: hexId, why: z.enum([...DISQUALIFICATIONS, 'available']) }))
      .meta({ description: 'Sandboxes that were looked at, and why each was not taken or could be.' }),
    booted_at: instantOut.nullable().meta({ description: 'Since when the warm one that was taken is up.' }),
    pool: z.object({ run_id: z.string(), living: z.int(), spilled: z.boolean() }).nullable(),
  })
  .meta({ id: 'Placement' });

export const PLACEMENT_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/placement',
    operation: 'get_placement',
    summary: 'Why a conversation is in its sandbox; null before it was placed.',
    access: 'key',
    params: conversationParams,
    result: placementSchema.nullable(),
    errors: ['not_found'],
    handler: async ({ application, caller, params }) => {
      const row = await findConversation(application, caller, params.conversation_id);
      const decision = await application.world.placement.decision(row.conversationId);
      if (decision === null) return null;
      const { rule, chosen, seen, bootedAt, pool } = decision;
      return {
        summary: placementText(decision),
        rule,
        sandbox_id: chosen,
        seen: seen.map(({ sandboxId, why }) => ({ sandbox_id: sandboxId, why })),
        booted_at: bootedAt === undefined ? null : isoInstant(bootedAt),
        pool: pool === undefined ? null : { run_id: pool.poolId, living: pool.living, spilled: pool.spilled },
      };
    },
  }),
] as const;
