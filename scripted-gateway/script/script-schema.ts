// The shape of a script file as written: every key, its type and its bounds. Unknown keys are refused everywhere.
// It must not check what the keys mean together; parse-script.ts does that.

import { z } from 'zod';

import {
  callsPerTurnMax,
  latencyMsMax,
  patternCharsMax,
  retryAfterSecondsMax,
  scriptNameCharsMax,
  tokensPerCallMax,
  turnCountMax,
} from '../limits.ts';
import { quoteAll } from './problem.ts';

/** An object that names its allowed keys when it meets another. */
function strictKeys<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `expected one of ${quoteAll(Object.keys(shape))}` : undefined,
  });
}

const text = z.string();
const word = z.string().min(1).max(200);
const latencyMs = z.int().min(0).max(latencyMsMax);
const tokens = z.int().min(0).max(tokensPerCallMax);
const toolArguments = z.record(z.string(), z.unknown());

const keySchema = strictKeys({
  key: z.string().regex(/^[\x21-\x7e]{1,512}$/, 'expected printable ASCII without spaces'),
  name: word,
  models: z.array(word).min(1).optional(),
  tags: z.array(word).optional(),
  admin: z.boolean().optional(),
});

const usd = z.union([z.string(), z.number()], { error: 'expected a decimal such as "2.50"' });
const priceSchema = strictKeys({ input: usd, output: usd });

const turnShape = {
  say: text.optional(),
  tool: word.optional(),
  arguments: toolArguments.optional(),
  tools: z
    .array(strictKeys({ tool: word, arguments: toolArguments.optional() }))
    .min(1)
    .max(callsPerTurnMax)
    .optional(),
  usage: strictKeys({ prompt: tokens, completion: tokens }).optional(),
  latency_ms: latencyMs.optional(),
  piece_ms: latencyMs.optional(),
};

const turnSchema = strictKeys({
  ...turnShape,
  status: z.int().min(400).max(599).optional(),
  message: word.optional(),
  retry_after: z.int().min(0).max(retryAfterSecondsMax).optional(),
});

const turnScriptSchema = strictKeys({
  name: z
    .string()
    .max(scriptNameCharsMax)
    .regex(/^[A-Za-z0-9_-]+$/, 'expected letters, digits, "-" and "_" only'),
  when: strictKeys({ contains: z.string().min(1).optional(), tool: word.optional() })
    .refine(
      ({ contains, tool }) => contains !== undefined || tool !== undefined,
      'expected "contains", "tool" or both',
    )
    .optional(),
  turns: z.array(turnSchema).max(turnCountMax),
  finally: strictKeys(turnShape).optional(),
});

/** The whole file. */
export const scriptFileSchema = strictKeys({
  kind: z.literal('gateway-script'),
  version: z.literal(1),
  keys: z.array(keySchema).min(1),
  models: z.record(word, priceSchema),
  latency_ms: latencyMs.optional(),
  working_dir: strictKeys({
    from: z.enum(['system', 'user']).optional(),
    pattern: z.string().min(1).max(patternCharsMax).optional(),
  }).optional(),
  scripts: z.array(turnScriptSchema).min(1),
});

export type ScriptFile = z.infer<typeof scriptFileSchema>;
export type TurnFile = z.infer<typeof turnSchema>;
export type TurnScriptFile = z.infer<typeof turnScriptSchema>;
