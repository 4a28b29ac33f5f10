/**
 * What a conversation is run over: the rows of a data file, files by their names, issues of a code host, or rows that
 * stand in the job.
 * Owns shapes and bounds; rows are read, and compared with each other, in ../rows/.
 */
import { z } from 'zod';

import { ISSUE_STATES } from '../../core/plan/plan-issue.ts';
import { mapNode } from '../read/tree.ts';
import { flag, oneOf, oneOrMore, token, whole } from './amounts.ts';
import { conditionSchema } from './inputs-schema.ts';
import { ISSUE_LABEL } from './code-host-rule.ts';
import { anyOf, loseNothing, scalarAs, SHORTHANDS, type Shorthand } from './shorthand.ts';
import * as rules from './text-rule.ts';

/** What one plan may hold (expand-matrix.ts). */
const ROWS_MAX = 100_000;
/** More rows than this are a data file, not a job: YAML is read a hundred times slower than one. */
const LISTED_MAX = 1_000;
const PATTERNS_MAX = 100;
/** As the variables of a prompt file. */
const CELL_MAX = 10_000;
/** The field of a row that is written as one value. */
const ONLY_FIELD = 'value';

/** Values keep their type; a number that YAML would spell otherwise needs quotes. */
const typed: Shorthand = {
  normalise: (tree, { report }) => {
    if (tree.kind === 'scalar') loseNothing(tree, report);
    return tree;
  },
  jsonSchema: () => ({ type: ['string', 'number', 'boolean'] }),
};

/** `acme/shop` stands for `{value: acme/shop}`. */
const oneValue: Shorthand = {
  normalise: (tree) =>
    tree.kind === 'scalar' && (tree.value !== null || tree.open === true)
      ? mapNode(tree.span, { [ONLY_FIELD]: tree })
      : tree,
  jsonSchema: (long) => ({ anyOf: [{ type: ['string', 'number', 'boolean'] }, long] }),
};

/** A list stands for the rows themselves. */
const rowsAlone: Shorthand = {
  normalise: (tree) => (tree.kind === 'list' ? mapNode(tree.span, { list: tree }) : tree),
  jsonSchema: ({ description, ...long }) =>
    anyOf({ description }, [(long['properties'] as Record<string, object>)['list'], long]),
};

const cell = z.union([z.string().max(CELL_MAX), z.number(), z.boolean()]).register(SHORTHANDS, typed);

const row = z
  .record(rules.text(rules.COLUMN), cell)
  .meta({ description: 'One row: a value for each field, the same fields in all of them.' })
  .register(SHORTHANDS, oneValue);

/** Each is read by itself, with its comments. */
const ISSUES_MAX = 1_000;
const ISSUE_LABELS_MAX = 20;

const issues = (whose: string) =>
  z
    .strictObject({
      repository: rules.text(rules.REPOSITORY, 'Repository as owner/name.'),
      label: oneOrMore(
        rules.text(ISSUE_LABEL),
        ISSUE_LABELS_MAX,
        'Labels that an issue has, all of them.',
      ).optional(),
      state: oneOf(ISSUE_STATES, 'Which issues are read.').optional(),
      limit: whole(1, ISSUES_MAX, 'Issues read at most.').optional(),
      host: rules.text(rules.HOST, 'Provider key in code_hosts of the deployment.').optional(),
      token: token.optional(),
    })
    .meta({ description: `Issues of a repository at ${whose}, each a row.` })
    .register(SHORTHANDS, scalarAs('repository'))
    .optional();

export const itemsSchema = z
  .strictObject({
    csv: rules.text(rules.LOCAL_PATH, 'CSV file with a header; every column is text.').optional(),
    jsonl: rules.text(rules.LOCAL_PATH, 'File with one JSON object a line.').optional(),
    from: rules
      .text(rules.ENTRY_ID, 'Id of another conversation, among whose results the rows are; beside "jsonl".')
      .optional(),
    glob: oneOrMore(
      rules.text(rules.FILE_GLOB),
      PATTERNS_MAX,
      'Files that match one of these patterns, each a row with path, name, stem and text.',
    ).optional(),
    list: z.array(row).min(1).max(LISTED_MAX).meta({ description: 'Rows that stand in the job.' }).optional(),
    github: issues('GitHub'),
    gitlab: issues('GitLab'),
    gitea: issues('Gitea or Forgejo'),
    where: conditionSchema('Expression; rows for which it is false are left out.').optional(),
    limit: whole(1, ROWS_MAX, 'Rows taken at most.').optional(),
    allow_empty: flag('No row is no error, and no conversation.').optional(),
  })
  .meta({
    description:
      'One conversation for each row of a data file, of a list, for each file that matches, or for each issue.',
  })
  .register(SHORTHANDS, rowsAlone);
