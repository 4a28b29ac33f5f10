/**
 * What is pushed to the repositories.
 * Owns the keys of `deliver`; how a branch is pushed is no business of the language.
 */
import { z } from 'zod';

import { flag, line, listOf, oneOf, token } from './amounts.ts';
import { ISSUE_LABEL, TARGET_BRANCH, USER_NAME } from './code-host-rule.ts';
import { listOfOne, scalarAs, SHORTHANDS } from './shorthand.ts';
import * as rules from './text-rule.ts';

/** The first line of a commit is read in lists. */
const MESSAGE_LENGTH_MAX = 500;

/** Hosts take no longer one. */
const TITLE_LENGTH_MAX = 250;
const BODY_LENGTH_MAX = 20_000;
const NAMES_MAX = 20;

const WORDS = '{job}, {run}, {key}, {issue}, {issue_title} and {issue_url} are filled in';

const names = (named: rules.TextRule, description: string) =>
  listOf(rules.text(named), NAMES_MAX, description).register(SHORTHANDS, listOfOne).optional();

const pullRequest = z
  .strictObject({
    title: line(TITLE_LENGTH_MAX, `Title; ${WORDS}.`).optional(),
    body: line(BODY_LENGTH_MAX, `What stands before the summary; ${WORDS}.`).optional(),
    draft: flag('Open it as a draft.').optional(),
    labels: names(ISSUE_LABEL, 'Labels it gets.'),
    reviewers: names(USER_NAME, 'Users who are asked to review it.'),
    base: rules.text(TARGET_BRANCH, 'Branch it is to be merged into.').optional(),
    comment: line(BODY_LENGTH_MAX, `What is said at the issue; ${WORDS}, and {url}.`).optional(),
    token: token.optional(),
  })
  .meta({ description: 'Opens a pull request for each branch that is pushed.' })
  .optional();

const DELIVER_WORDS = ['succeeded', 'always'] as const;

export const deliverSchema = z
  .strictObject({
    branch: rules.text(rules.DELIVER_BRANCH, 'Name of the branch, with {key} in it.'),
    message: line(
      MESSAGE_LENGTH_MAX,
      'Message of the commit; {job}, {run} and {key} are filled in.',
    ).optional(),
    when: oneOf(DELIVER_WORDS, 'Which conversations push a branch.').optional(),
    pull_request: pullRequest,
  })
  .meta({ description: 'Pushes a branch with the result of each conversation to its repository.' })
  .register(SHORTHANDS, scalarAs('branch'));
