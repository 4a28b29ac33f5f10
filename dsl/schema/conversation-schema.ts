/**
 * One entry of `conversations`, and `defaults`, which has the same optional fields.
 * Owns shapes and bounds; what needs more than one value is checked in check/.
 */
import { z } from 'zod';

import { SECRETS_MAX, TAG_VALUE_CODE_POINTS_MAX } from '../../core/limits.ts';
import {
  asText,
  asWritten,
  amountAsWritten,
  namesAsMap,
  promptForm,
  scalarAs,
  SHORTHANDS,
} from './shorthand.ts';
import * as rules from './text-rule.ts';

/** More values than this on one axis are a data file, not a job. */
const AXIS_VALUES_MAX = 1_000;
const AXES_MAX = 8;
/** A turn costs money: a million of them is a slip of the keyboard. */
const TURNS_MAX = 1_000_000;

export const duration = (description: string) =>
  rules.text(rules.DURATION, description).register(SHORTHANDS, asWritten);
export const amount = (description: string) =>
  rules.text(rules.AMOUNT, description).register(SHORTHANDS, amountAsWritten({ minimum: 0 }));
export const positiveAmount = (description: string) =>
  rules
    .text(rules.POSITIVE_AMOUNT, description)
    .register(SHORTHANDS, amountAsWritten({ exclusiveMinimum: 0 }));

/** Code points, not UTF-16 units (D21); with an interpolation the length is known later. */
const tagValue = z
  .string()
  .refine(
    (value) => value.includes(rules.INTERPOLATION_MARK) || [...value].length <= TAG_VALUE_CODE_POINTS_MAX,
    {
      params: { tooLong: TAG_VALUE_CODE_POINTS_MAX },
    },
  )
  .meta({ pattern: `\\$\\{\\{|^[^]{0,${TAG_VALUE_CODE_POINTS_MAX}}$` })
  .register(SHORTHANDS, asText);

const axisValue = z.string().min(1).max(200).register(SHORTHANDS, asText);

const repository = z
  .strictObject({
    name: rules.text(rules.REPOSITORY, 'Repository as owner/name.'),
    branch: rules.text(rules.BRANCH, 'Branch to start from.').optional(),
    host: rules.text(rules.HOST, 'Provider key in code_hosts of the deployment.').optional(),
    token: z
      .strictObject({ secret: rules.text(rules.SECRET_NAME, 'Name of a secret of this job.') })
      .meta({ description: 'Credential for the host.' })
      .optional(),
  })
  .meta({ description: 'Repository the conversation works on.' })
  .register(SHORTHANDS, scalarAs('name'));

const verify = z
  .strictObject({
    command: z.string().min(1).max(10_000).meta({ description: 'Shell command; exit code 0 is success.' }),
    timeout: duration('Longest time the command may take.').optional(),
  })
  .meta({ description: 'Command run in the sandbox before collection; it decides success (D28).' })
  .register(SHORTHANDS, scalarAs('command'));

export const limitsSchema = z
  .strictObject({
    working: duration('Working time, without boot, queueing and pauses.').optional(),
    turns: z
      .number()
      .int()
      .min(1)
      .max(TURNS_MAX)
      .meta({ description: 'Iterations of the agent.' })
      .optional(),
    usd: positiveAmount('Spend of the conversation in USD.').optional(),
  })
  .meta({ description: 'Limits of one conversation; reaching one is the outcome limit_reached (D28).' });

const secrets = z
  .record(rules.text(rules.ENVIRONMENT_NAME), rules.text(rules.SECRET_NAME))
  .refine((map) => Object.keys(map).length <= SECRETS_MAX, { params: { tooMany: SECRETS_MAX } })
  .meta({ description: 'Secrets as environment variables of the agent: a list of names, or NAME: secret.' })
  .register(SHORTHANDS, namesAsMap);

export const keyTemplate = z
  .string()
  .min(1)
  .max(500)
  .meta({ description: 'Template of the key; must be unique.' });

export const prioritySchema = z
  .number()
  .int()
  .min(-1_000)
  .max(1_000)
  .meta({ description: 'Higher starts first.' });

const sharedFields = {
  repo: repository.optional(),
  branch: rules.text(rules.BRANCH, 'Short for repo.branch.').optional(),
  model: rules.text(rules.MODEL, 'Model as the proxy lists it.').optional(),
  tags: z
    .record(rules.text(rules.TAG_KEY), tagValue)
    .meta({ description: 'Tags of the conversation (D21).' })
    .optional(),
  secrets: secrets.optional(),
  verify: verify.optional(),
  limits: limitsSchema.optional(),
  priority: prioritySchema.optional(),
  key: keyTemplate.optional(),
};

export const defaultsSchema = z
  .strictObject(sharedFields)
  .meta({ description: 'Fields every conversation has unless it sets them itself.' });

const prompt = z
  .discriminatedUnion('from', [
    z.strictObject({ from: z.literal('text'), text: z.string() }),
    z.strictObject({ from: z.literal('file'), path: rules.text(rules.LOCAL_PATH) }),
  ])
  .meta({ description: 'What the agent is asked to do: text, or {file: path}.' })
  .register(SHORTHANDS, promptForm);

const combination = z.record(rules.text(rules.AXIS_NAME), axisValue);

export const conversationSchema = z
  .strictObject({
    id: rules.text(rules.ENTRY_ID, 'Unique in the job; the start of the key.'),
    prompt,
    ...sharedFields,
    matrix: z
      .record(rules.text(rules.AXIS_NAME), z.array(axisValue).min(1).max(AXIS_VALUES_MAX))
      .refine((axes) => Object.keys(axes).length <= AXES_MAX, { params: { tooMany: AXES_MAX } })
      .meta({ description: 'Axes; one conversation for each combination of their values.' })
      .optional(),
    exclude: z
      .array(combination)
      .meta({ description: 'Combinations left out: every entry matches by subset.' })
      .optional(),
    include: z
      .array(combination)
      .meta({ description: 'Combinations added; each names every axis.' })
      .optional(),
  })
  .meta({ description: 'One conversation, or one for each combination of its matrix.' });

export type ConversationDocument = z.infer<typeof conversationSchema>;
export type DefaultsDocument = z.infer<typeof defaultsSchema>;
export type RepositoryDocument = z.infer<typeof repository>;
