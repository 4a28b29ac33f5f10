/**
 * One entry of `conversations`, and `defaults`, which has the same optional fields.
 * Owns shapes and bounds; what needs more than one value is checked in check/.
 */
import { z } from 'zod';

import { SECRETS_MAX, TAG_VALUE_CODE_POINTS_MAX } from '../../core/limits.ts';
import {
  amountAsWritten,
  asText,
  namesAsMap,
  numberAsWritten,
  promptForm,
  scalarAs,
  SHORTHANDS,
} from './shorthand.ts';
import { duration, flag, line, listOf, oneOf, positiveAmount, token, whole } from './amounts.ts';
import { collectSchema } from './collect-schema.ts';
import { CONDITION_MAX, conditionSchema } from './inputs-schema.ts';
import { itemsSchema } from './items-schema.ts';
import { needsSchema } from './needs-schema.ts';
import { retrySchema, waitSchema } from './run-schema.ts';
import * as rules from './text-rule.ts';

/** More values than this on one axis are a data file, not a job. */
const AXIS_VALUES_MAX = 1_000;
const AXES_MAX = 8;
/** More attempts of one conversation than this say nothing more. */
const REPEAT_MAX = 1_000;
const RULES_MAX = 100;
const PLUGINS_MAX = 20;
/** More numbers about one conversation than this are a file of its results. */
const SCORES_MAX = 20;
const COMMAND_WORDS_MAX = 100;
/** Lock files of all the languages in one repository. */
const SETUP_CACHE_FILES_MAX = 20;
/** A turn costs money: a million of them is a slip of the keyboard. */
const TURNS_MAX = 1_000_000;

/** Code points, not UTF-16 units (D21); with an interpolation the length is known later. */
const tagValue = z
  .string()
  .refine(
    (value) => value.includes(rules.INTERPOLATION_MARK) || [...value].length <= TAG_VALUE_CODE_POINTS_MAX,
    { params: { tooLong: TAG_VALUE_CODE_POINTS_MAX } },
  )
  .meta({ pattern: `\\$\\{\\{|^[^]{0,${TAG_VALUE_CODE_POINTS_MAX}}$` })
  .register(SHORTHANDS, asText);

const axisValue = z.string().min(1).max(200).register(SHORTHANDS, asText);
const longText = z.string().max(10_000).register(SHORTHANDS, asText);

const repository = z
  .strictObject({
    name: rules.text(rules.REPOSITORY, 'Repository as owner/name.'),
    branch: rules.text(rules.BRANCH, 'Branch to start from.').optional(),
    ref: rules.text(rules.BRANCH, 'Tag, or id of a commit, to start from.').optional(),
    submodules: flag('Fetch its submodules.').optional(),
    lfs: flag('Fetch the files that Git LFS keeps of it.').optional(),
    host: rules.text(rules.HOST, 'Provider key in code_hosts of the deployment.').optional(),
    token: token.optional(),
    author: z
      .strictObject({
        name: rules.text(rules.AUTHOR_NAME, 'Name in commits.'),
        email: rules.text(rules.EMAIL, 'E-mail address in commits.'),
      })
      .meta({ description: "Author of the agent's commits (D19)." })
      .optional(),
  })
  .meta({ description: 'Repository the conversation works on.' })
  .register(SHORTHANDS, scalarAs('name'));

const timeout = duration('Longest time the command may take.').optional();
const command = { command: line(10_000, 'Shell command; exit code 0 is success.'), timeout };

const setup = z
  .strictObject({
    ...command,
    cache: listOf(
      rules.text(rules.GLOB, 'Path of a file in the repository.'),
      SETUP_CACHE_FILES_MAX,
      'Files that decide whether what the command made is used again; default: lock files.',
    ).optional(),
  })
  .meta({ description: 'Command run after the clone and before the agent.' })
  .register(SHORTHANDS, scalarAs('command'));

const verify = z
  .strictObject(command)
  .meta({ description: 'Command run in the sandbox before collection; it decides success (D28).' })
  .register(SHORTHANDS, scalarAs('command'));

export const limitsSchema = z
  .strictObject({
    working: duration('Working time, without boot, queueing and pauses.').optional(),
    turns: whole(1, TURNS_MAX, 'Iterations of the agent.').optional(),
    usd: positiveAmount('Spend of the conversation in USD.').optional(),
  })
  .meta({ description: 'Limits of one conversation; reaching one is the outcome limit_reached (D28).' });

const secrets = z
  .record(rules.text(rules.ENVIRONMENT_NAME), rules.text(rules.SECRET_NAME))
  .refine((map) => Object.keys(map).length <= SECRETS_MAX, { params: { tooMany: SECRETS_MAX } })
  .meta({ description: 'Secrets as environment variables of the agent: a list of names, or NAME: secret.' })
  .register(SHORTHANDS, namesAsMap);

const keyTemplate = line(500, 'Template of the key; must be unique.');

export const prioritySchema = rules
  .text(rules.PRIORITY, 'Higher starts first; from -1000 to 1000.')
  .register(SHORTHANDS, numberAsWritten({ type: 'integer', minimum: -1_000, maximum: 1_000 }));

const scoreBound = (description: string) =>
  rules.text(rules.NUMBER, description).register(SHORTHANDS, amountAsWritten({})).optional();

const score = z.strictObject({
  name: rules.text(rules.SCORE_NAME, 'What is measured; unique in the conversation.'),
  command: line(10_000, 'Shell command whose last line is a number.'),
  at_least: scoreBound('Less than this is not good.'),
  at_most: scoreBound('More than this is not good.'),
  timeout,
});

const plugin = z
  .strictObject({
    source: rules.text(rules.PLUGIN_SOURCE, 'Repository of the plugin as owner/name.'),
    ref: rules.text(rules.BRANCH, 'Branch or tag of it.').optional(),
    path: rules.text(rules.GLOB, 'Folder in it that holds the plugin.').optional(),
  })
  .meta({ description: 'A plugin attached to the conversation.' })
  .register(SHORTHANDS, scalarAs('source'));

const agentChoice = z
  .strictObject({
    use: rules.text(rules.AGENT, 'Name of the agent: a preset, or any name beside "command".'),
    command: z
      .array(z.string().min(1).max(10_000).register(SHORTHANDS, asText))
      .min(1)
      .max(COMMAND_WORDS_MAX)
      .meta({
        description: 'Program of the sandbox that speaks the Agent Client Protocol, and its arguments.',
      })
      .optional(),
    environment: z
      .record(rules.text(rules.ENVIRONMENT_NAME), longText)
      .meta({ description: 'Variables of the program; ${NAME} in a value stands for a secret.' })
      .optional(),
    mode: rules.text(rules.AGENT_WORD, 'Mode that its sessions begin in.').optional(),
    version: rules.text(rules.AGENT_WORD, 'What the program must say of itself.').optional(),
  })
  .meta({ description: 'Which agent works in the conversation.' })
  .register(SHORTHANDS, scalarAs('use'));

const sharedFields = {
  repo: repository.optional(),
  branch: rules.text(rules.BRANCH, 'Short for repo.branch.').optional(),
  model: rules.text(rules.MODEL, 'Model as the proxy lists it.').optional(),
  tags: z
    .record(rules.text(rules.TAG_KEY), tagValue)
    .meta({ description: 'Tags of the conversation (D21).' })
    .optional(),
  secrets: secrets.optional(),
  setup: setup.optional(),
  verify: verify.optional(),
  scores: z
    .array(score)
    .min(1)
    .max(SCORES_MAX)
    .meta({ description: 'Numbers that commands in the sandbox print about the work, after `verify`.' })
    .optional(),
  limits: limitsSchema.optional(),
  priority: prioritySchema.optional(),
  confirmation: oneOf(['never', 'risky', 'always'], 'When the agent asks before it acts.').optional(),
  retry: retrySchema.optional(),
  wait: waitSchema.optional(),
  collect: collectSchema.optional(),
  plugins: listOf(plugin, PLUGINS_MAX, 'Plugins of the agent.').optional(),
  agent: agentChoice.optional(),
};

const withKey = { ...sharedFields, key: keyTemplate.optional() };

export const defaultsSchema = z
  .strictObject(withKey)
  .meta({ description: 'Fields every conversation has unless it sets them itself.' });

const prompt = z
  .discriminatedUnion('from', [
    z.strictObject({ from: z.literal('text'), text: z.string() }),
    z.strictObject({
      from: z.literal('file'),
      path: rules.text(rules.LOCAL_PATH),
      /** Filled into the file where it says {{name}}; the file itself never holds an expression. */
      vars: z.record(rules.text(rules.AXIS_NAME), longText).optional(),
    }),
  ])
  .meta({ description: 'What the agent is asked to do: text, or {file: path}.' })
  .register(SHORTHANDS, promptForm);

const excludedValue = z.string().min(1).max(CONDITION_MAX).register(SHORTHANDS, asText);

const combination = z.record(rules.text(rules.AXIS_NAME), axisValue);

const extension = z
  .strictObject({
    match: combination.meta({ description: 'Axis values that a combination must have.' }).optional(),
    when: conditionSchema('Expression that must be true.').optional(),
    set: z.strictObject(sharedFields).meta({ description: 'Fields of these conversations.' }),
  })
  .meta({ description: 'Decorates combinations that exist; adds none.' });

export const conversationSchema = z
  .strictObject({
    id: rules.text(rules.ENTRY_ID, 'Unique in the job; the start of the key.'),
    prompt,
    ...withKey,
    needs: needsSchema.optional(),
    items: itemsSchema.optional(),
    repeat: whole(1, REPEAT_MAX, 'Copies of each conversation, for statistics; not retries.').optional(),
    outcome: oneOf(['all', 'any', 'majority'], 'How many copies of "repeat" have to succeed.').optional(),
    matrix: z
      .record(rules.text(rules.AXIS_NAME), z.array(axisValue).min(1).max(AXIS_VALUES_MAX))
      .refine((axes) => Object.keys(axes).length <= AXES_MAX, { params: { tooMany: AXES_MAX } })
      .meta({ description: 'Axes; one conversation for each combination of their values.' })
      .optional(),
    exclude: listOf(
      z.record(rules.text(rules.EXCLUDED_NAME), excludedValue),
      RULES_MAX,
      'Combinations left out: an entry matches by subset, and by "when".',
    ).optional(),
    include: z
      .array(combination)
      .meta({ description: 'Combinations added; each names every axis.' })
      .optional(),
    extend: listOf(
      extension,
      RULES_MAX,
      'Fields set for some of the combinations; the last entry that matches wins.',
    ).optional(),
  })
  .meta({ description: 'One conversation, or one for each combination of its matrix.' });

export type ConversationDocument = z.infer<typeof conversationSchema>;
export type DefaultsDocument = z.infer<typeof defaultsSchema>;
export type PluginDocument = z.infer<typeof plugin>;
export type ScoreDocument = z.infer<typeof score>;
export type RepositoryDocument = z.infer<typeof repository>;
