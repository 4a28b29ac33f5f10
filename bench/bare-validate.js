/**
 * What `parley validate` is held against: a process that reads a job, parses it and holds it to a schema of the same depth.
 * Must not import anything of Parley.
 */
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { z } from 'zod';

const conversation = z.strictObject({
  id: z.string(),
  repo: z.string(),
  model: z.string(),
  prompt: z.string(),
});
const job = z.strictObject({
  kind: z.literal('job'),
  version: z.literal(1),
  name: z.string(),
  conversations: z.array(conversation),
});
job.parse(load(readFileSync(process.argv[2], 'utf8')));
