/**
 * What code hosts answered when a submitted plan was made.
 * Owns its shape and bounds on the wire; they are those under which issues are read.
 */
import { z } from 'zod';
import { CODE_HOST_KINDS, ISSUE_STATES } from '../../core/plan/plan-issue.ts';

const TEXT_MAX = 1_000_000;
const LIST_MAX = 200;
const LIMIT_MAX = 100_000;
/** One for each conversation of a job. */
const QUESTIONS_MAX = 10_000;

const text = z.string().max(TEXT_MAX);
const word = z.string().min(1).max(256);

/** As the rows of issues are bounded where they are read. */
const ISSUE_ROWS_MAX = 1_000;
const issueRow = z.strictObject({
  number: z.int().min(1),
  title: text,
  body: text,
  comments: text,
  url: z.string().max(4_096),
  author: text,
  state: z.enum(['open', 'closed']),
  labels: z.array(z.string().max(1_000)).max(LIST_MAX),
});
export const submittedIssues = z
  .array(
    z.strictObject({
      entry: word,
      kind: z.enum(CODE_HOST_KINDS),
      host: word,
      repository: word,
      labels: z.array(word).max(LIST_MAX),
      state: z.enum(ISSUE_STATES),
      limit: z.int().min(1).max(LIMIT_MAX),
      rows: z.array(issueRow).max(ISSUE_ROWS_MAX),
    }),
  )
  .max(QUESTIONS_MAX);
