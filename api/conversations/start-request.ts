/**
 * The body of a start request (spec "Start request"): every field is optional (D18).
 * Owns forms and bounds; what a request leads to is in start.ts.
 */
import { z } from 'zod';
import { uuidIn } from '../application/wire.ts';

/** Longer texts are files, and belong into the workspace. */
const TEXT_CHARS_MAX = 1_000_000;
const BLOCKS_MAX = 100;
const NAME_CHARS_MAX = 300;
const TAGS_MAX = 50;
/** In Unicode code points (D21). */
const TAG_VALUE_MAX = 256;
const OBSERVABILITY_MAX = 100;

export const textBlock = z.object({ type: z.literal('text'), text: z.string().max(TEXT_CHARS_MAX) });

export const repositoryIn = z
  .string()
  .max(NAME_CHARS_MAX)
  .regex(/^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/, 'Input should be <owner>/<repository>');

/** A name that Git takes for a branch: nothing that its rules refuse, and no option. */
export const branchIn = z
  .string()
  .min(1)
  .max(NAME_CHARS_MAX)
  .regex(/^[^\p{Cc} ~^:?*[\\]+$/u, 'Input should be a branch name')
  .refine((name) => !/^[-/.]|\.\.|@\{|\/\/|[/.]$|\.lock$/.test(name), 'Input should be a branch name');

export const tagsIn = z
  .record(
    z.string().regex(/^[a-z0-9]+$/, 'Keys hold lower-case letters and digits only'),
    z.string().refine((value) => [...value].length <= TAG_VALUE_MAX, `At most ${TAG_VALUE_MAX} characters`),
  )
  .refine((tags) => Object.keys(tags).length <= TAGS_MAX, `At most ${TAGS_MAX} tags`);

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const metadataValue = z.union([scalar, z.array(z.string()), z.array(z.number()), z.array(z.boolean())]);

const initialMessage = z.object({
  role: z.literal('user').default('user'),
  content: z.array(textBlock).max(BLOCKS_MAX).default([]),
  run: z
    .boolean()
    .default(true)
    .meta({ description: 'False appends the message and leaves the agent IDLE.' }),
});

export const startRequestSchema = z.object({
  initial_message: initialMessage.nullish(),
  conversation_id: uuidIn.nullish(),
  sandbox_id: uuidIn.nullish().meta({ description: 'Explicit placement.' }),
  selected_repository: repositoryIn.nullish(),
  selected_branch: branchIn.nullish(),
  git_provider: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/)
    .nullish(),
  title: z.string().min(1).max(200).nullish(),
  llm_model: z.string().min(1).max(NAME_CHARS_MAX).nullish(),
  secrets: z.record(z.string(), z.string()).nullish(),
  plugins: z
    .array(z.object({ source: z.string().max(1_024) }))
    .max(0, 'The Agent Server of this installation loads no plugins')
    .nullish(),
  tags: tagsIn.nullish(),
  observability_span_name: z
    .string()
    .regex(/^[A-Za-z0-9._:/-]{1,128}$/)
    .nullish(),
  observability_tags: z.array(z.string().min(1).max(200)).max(OBSERVABILITY_MAX).nullish(),
  observability_metadata: z
    .record(z.string().min(1), metadataValue)
    .refine((values) => Object.keys(values).length <= OBSERVABILITY_MAX)
    .nullish(),
});
export type StartRequest = z.output<typeof startRequestSchema>;

const HIDDEN = '**********';

/** The request as it may be kept and shown: names of secrets, and no value (D20). */
export function withoutSecrets(request: StartRequest): StartRequest {
  const { secrets } = request;
  if (secrets === null || secrets === undefined) return request;
  return { ...request, secrets: Object.fromEntries(Object.keys(secrets).map((name) => [name, HIDDEN])) };
}

export function textOf(content: readonly { readonly text: string }[]): string {
  return content.map(({ text }) => text).join('\n');
}
