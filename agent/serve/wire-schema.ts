/**
 * Shapes of request bodies that several routes share, and turning a failed check into a 422.
 */
import { validateHeaderName, validateHeaderValue } from 'node:http';

import { z } from 'zod';

import { HttpError, type Finding } from './http-error.ts';
import { hyphenatedUuid } from '../ids.ts';
import { SECRET_BYTES_MAX, SECRETS_MAX, TAG_VALUE_CODE_POINTS_MAX, TAGS_MAX } from '../limits.ts';
import type { Content } from '../conversation/event.ts';

export const uuidSchema = z.string().transform((text, context) => {
  const uuid = hyphenatedUuid(text);
  if (uuid !== null) return uuid;
  context.addIssue({ code: 'custom', message: 'Input should be a valid UUID' });
  return z.NEVER;
});

export const tagsSchema = z
  .record(
    z.string().regex(/^[a-z0-9]+$/, 'Tag keys are lower-case letters and digits'),
    z.string().refine((text) => [...text].length <= TAG_VALUE_CODE_POINTS_MAX, {
      message: `Tag values have at most ${TAG_VALUE_CODE_POINTS_MAX} characters`,
    }),
  )
  .refine((tags) => Object.keys(tags).length <= TAGS_MAX, { message: `At most ${TAGS_MAX} tags` });

const secretValueSchema = z
  .string()
  .refine((value) => !value.includes('\0'), { message: 'A secret cannot hold a NUL character' })
  .refine((value) => Buffer.byteLength(value) <= SECRET_BYTES_MAX, {
    message: `A secret has at most ${SECRET_BYTES_MAX} bytes`,
  });

/** Name → value, from the spellings `"v"`, `{value}` and `{kind: "StaticSecret", value}`. */
export const secretsSchema = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'Secret names are those of environment variables'),
    z.union([
      secretValueSchema,
      z
        .object({ kind: z.literal('StaticSecret').optional(), value: secretValueSchema })
        .transform((secret) => secret.value),
    ]),
  )
  .refine((secrets) => Object.keys(secrets).length <= SECRETS_MAX, {
    message: `At most ${SECRETS_MAX} secrets`,
  });

const contentPartSchema = z.union([
  z
    .object({ type: z.literal('text'), text: z.string(), cache_prompt: z.boolean().default(false) })
    .transform(({ type, text, cache_prompt }): Content => ({ type, text, cache_prompt })),
  z
    .object({
      type: z.literal('image'),
      image_urls: z.array(z.string()).max(20),
      cache_prompt: z.boolean().default(false),
    })
    .transform(({ type, image_urls, cache_prompt }): Content => ({ type, image_urls, cache_prompt })),
]);

const contentSchema = z.union([
  z.string().transform((text): Content[] => [{ type: 'text', text, cache_prompt: false }]),
  z.array(contentPartSchema).max(1_000),
]);

/** A user's message; `run` stays undefined when the caller left it out. */
export const messageSchema = z.object({
  role: z.literal('user').default('user'),
  content: contentSchema,
  run: z.boolean().optional(),
  sender: z.string().max(200).nullish(),
});
export type MessageRequest = z.infer<typeof messageSchema>;

export const headersSchema = z.record(z.string(), z.string()).superRefine((headers, context) => {
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      context.addIssue({ code: 'custom', message: `Header cannot be sent: "${name}"`, path: [name] });
    }
  }
});

export const confirmationPolicySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('NeverConfirm') }),
  z.object({ kind: z.literal('AlwaysConfirm') }),
  z.object({
    kind: z.literal('ConfirmRisky'),
    threshold: z.enum(['LOW', 'MEDIUM', 'HIGH']).default('HIGH'),
    confirm_unknown: z.boolean().default(true),
  }),
]);
export type ConfirmationPolicy = z.infer<typeof confirmationPolicySchema>;

/** Who says how risky an action is: the model that asks for it. */
export const securityAnalyzerSchema = z.object({ kind: z.literal('LLMSecurityAnalyzer') });

/**
 * The checked form of a request part. Inputs are never repeated in the answer: they may hold secrets.
 *
 * @throws HttpError 422 with one finding per problem, `loc` starting with `part`
 */
export function parsePart<S extends z.ZodType>(
  schema: S,
  input: unknown,
  part: 'body' | 'query' | 'path',
): z.output<S> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const findings = parsed.error.issues.map((issue): Finding => {
    const loc = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
    return { type: issue.code, loc: [part, ...loc], msg: issue.message };
  });
  throw new HttpError(422, findings);
}
