/**
 * The body of a start request (spec "Start request"): every field is optional (D18).
 * Owns forms and bounds; what a request leads to is in start.ts.
 */
import { z } from 'zod';
import { SECRET_BYTES_MAX, SECRETS_MAX } from '../../core/limits.ts';
import type { LaunchPlugin } from '../../activities/launch-facts.ts';
import { hostLabelsIn, hostNameIn } from '../application/host-pin.ts';
import { uuidIn } from '../application/wire.ts';
import { secretNameIn } from '../settings/stored-secrets.ts';

/** Longer texts are files, and belong into the workspace. */
const TEXT_CHARS_MAX = 1_000_000;
const BLOCKS_MAX = 100;
const NAME_CHARS_MAX = 300;
const TAGS_MAX = 50;
/** In Unicode code points (D21). */
const TAG_VALUE_MAX = 256;
const OBSERVABILITY_MAX = 100;
/** As the Agent Server takes them. */
const PLUGINS_MAX = 20;

export const textBlock = z
  .object({ type: z.literal('text'), text: z.string().max(TEXT_CHARS_MAX) })
  .meta({ id: 'TextBlock' });

export const repositoryIn = z
  .string()
  .max(NAME_CHARS_MAX)
  .regex(/^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/, 'Input should be <owner>/<repository>');

/**
 * A name that Git takes for a branch: nothing that its rules refuse, and no option.
 * Left out are control characters, space and ~^:?*[\ ; what no character class can say stands in front of it.
 */
const BRANCH =
  /^(?![-/.])(?!.*(?:\.\.|@\{|\/\/))(?!.*(?:[/.]|\.lock)$)[!-)+-9;->@-Z\]_-}\u00a0-\ud7ff\ue000-\uffff]+$/;

export const branchIn = z
  .string()
  .min(1)
  .max(NAME_CHARS_MAX)
  .regex(BRANCH, 'Input should be a branch name')
  .meta({ examples: ['main', 'feature/search'] });

export const tagsIn = z
  .record(
    z
      .string()
      .max(NAME_CHARS_MAX)
      .regex(/^[a-z0-9]+$/, 'Keys hold lower-case letters and digits only'),
    z
      .string()
      .refine((value) => [...value].length <= TAG_VALUE_MAX, `At most ${TAG_VALUE_MAX} characters`)
      .meta({ maxLength: TAG_VALUE_MAX }),
  )
  .refine((tags) => Object.keys(tags).length <= TAGS_MAX, `At most ${TAGS_MAX} tags`)
  .meta({ maxProperties: TAGS_MAX });

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const metadataValue = z.union([scalar, z.array(z.string()), z.array(z.number()), z.array(z.boolean())]);

/** A plugin is read through the deployment's code hosts, as a repository is. */
const pluginIn = z
  .object({
    source: z
      .string()
      .max(NAME_CHARS_MAX)
      .regex(
        /^(?:[a-z][a-z0-9_]{0,63}:)?[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/,
        'Input should be <owner>/<repository>, with a code host and a colon in front where it is not the default',
      )
      .meta({ examples: ['acme/plugins', 'github:acme/plugins'] }),
    ref: branchIn.nullish().meta({ description: 'Branch or tag; the default branch when left out.' }),
    repo_path: z
      .string()
      .max(NAME_CHARS_MAX)
      .regex(/^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$)).+$/, 'Input should be a folder of the repository')
      .nullish()
      .meta({ examples: ['plugins/review'] }),
  })
  .meta({ id: 'Plugin' });

const initialMessage = z
  .object({
    role: z.literal('user').default('user'),
    content: z.array(textBlock).max(BLOCKS_MAX).default([]),
    run: z
      .boolean()
      .default(true)
      .meta({ description: 'False appends the message and leaves the agent IDLE.' }),
  })
  .meta({ id: 'InitialMessage' });

/** What a start may ask for. */
export const startRequestSchema = z
  .object({
    initial_message: initialMessage.nullish(),
    conversation_id: uuidIn.nullish(),
    sandbox_id: uuidIn.nullish().meta({ description: 'Explicit placement.' }),
    host: hostNameIn
      .nullish()
      .meta({ description: 'The host of a new sandbox, where sandboxes live on hosts.' }),
    host_labels: hostLabelsIn.nullish().meta({ description: 'Labels that the host of a new sandbox has.' }),
    selected_repository: repositoryIn.nullish(),
    selected_branch: branchIn.nullish(),
    git_provider: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,63}$/)
      .nullish(),
    title: z.string().min(1).max(200).nullish(),
    llm_model: z.string().min(1).max(NAME_CHARS_MAX).nullish(),
    secrets: z
      .record(secretNameIn, z.string().meta({ maxLength: SECRET_BYTES_MAX }))
      .meta({ maxProperties: SECRETS_MAX })
      .nullish(),
    plugins: z.array(pluginIn).max(PLUGINS_MAX).nullish(),
    tags: tagsIn.nullish(),
    observability_span_name: z
      .string()
      .regex(/^[A-Za-z0-9._:/-]{1,128}$/)
      .nullish(),
    observability_tags: z.array(z.string().min(1).max(200)).max(OBSERVABILITY_MAX).nullish(),
    observability_metadata: z
      .record(z.string().min(1), metadataValue)
      .refine((values) => Object.keys(values).length <= OBSERVABILITY_MAX)
      .meta({ maxProperties: OBSERVABILITY_MAX })
      .nullish(),
  })
  .meta({ id: 'StartRequest' });
export type StartRequest = z.output<typeof startRequestSchema>;

/** Plugins as the launch knows them: the code host apart from the name. */
export function launchPlugins({ plugins }: StartRequest): LaunchPlugin[] {
  return (plugins ?? []).map(({ source, ref, repo_path: path }) => {
    const [name = source, host = null] = source.split(':').reverse();
    return { source: name, host, ref: ref ?? null, path: path ?? null };
  });
}

const HIDDEN = '**********';

/** The request as it may be kept and shown: names of secrets, and no value (D20). */
export function withoutSecrets(request: StartRequest): StartRequest {
  const { secrets } = request;
  if (secrets === null || secrets === undefined) return request;
  return { ...request, secrets: Object.fromEntries(Object.keys(secrets).map((name) => [name, HIDDEN])) };
}

/** Blank text is none. */
export function hasText(content: readonly { readonly text: string }[]): boolean {
  return content.some(({ text }) => /\S/.test(text));
}

export function textOf(content: readonly { readonly text: string }[]): string {
  return content.map(({ text }) => text).join('\n');
}
