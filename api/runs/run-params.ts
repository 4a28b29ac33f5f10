/**
 * The id of a run in an address.
 * Owns its form, which is that of a folder and a tag.
 */
import { z } from 'zod';

export const runParams = z.object({
  run_id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'Input should be the id of a run'),
});
