/**
 * The guards of a job that a scenario may lift, in the form the job has them.
 * Owns the choice of keys; shapes and bounds are the job's own.
 */
import { z } from 'zod';

import { limitsSchema, prioritySchema } from '../schema/conversation-schema.ts';
import { placementSchema } from '../schema/job-schema.ts';
import {
  admissionSchema,
  budgetSchema,
  cleanupSchema,
  retrySchema,
  waitSchema,
} from '../schema/run-schema.ts';

const fields = z.strictObject({ limits: limitsSchema.optional(), priority: prioritySchema.optional() });

export const overridesSchema = z
  .strictObject({
    defaults: fields.meta({ description: 'For every conversation that does not say otherwise.' }).optional(),
    conversations: z
      .record(z.string(), fields)
      .meta({ description: 'By the id of the conversation in the job.' })
      .optional(),
    placement: placementSchema.optional(),
    admission: admissionSchema.optional(),
    budget: budgetSchema.partial().meta({ description: 'What the run may spend.' }).optional(),
    retry: retrySchema.optional(),
    wait: waitSchema.optional(),
    cleanup: cleanupSchema.optional(),
  })
  .meta({ description: "Lifts the job's own guards, to see what the platform does without them." });

export type OverridesDocument = z.infer<typeof overridesSchema>;
