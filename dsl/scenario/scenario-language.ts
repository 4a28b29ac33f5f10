/**
 * The words of the scenario language for the shared passes.
 * Owns synonyms, remedies and refused keys of a scenario; the keys themselves are the schema's.
 */
import { isDeploymentLimit, isSessionLength } from '../check/deployment-limit.ts';
import { jobLimitRefused } from '../job-language.ts';
import type { Language, RefusedKey } from '../language.ts';
import { quote } from '../read/quote.ts';
import type { TreePath } from '../read/tree.ts';
import { scenarioSchema } from './scenario-schema.ts';

const SYNONYMS: Readonly<Record<string, string>> = {
  tokens: 'write "input_tokens" and "output_tokens": they have prices of their own',
  set: 'a job has no inputs; a scenario changes its guards under "overrides"',
  assert: 'write "expect", a list of expectations',
  assertions: 'write "expect", a list of expectations',
  expectations: 'write "expect"',
  duration_of_run: 'write "clock.until"',
  end_at: 'write "clock.until"',
  models: 'write "model", with "default" and "where"',
  rules: 'write "model.where", a list of rules',
  boot_warm: 'write "resume": a boot with kept files',
  fault: 'write "faults", probabilities by name',
};

const MISSING_REMEDY: Readonly<Record<string, string>> = {
  kind: 'the file starts with "kind: scenario"',
  version: 'write "version: 1"',
  name: 'give the scenario a name, such as "name: overnight-cap"',
  job: 'write the path of the job file that is played, such as "job: job.yaml"',
  when: 'write a condition, such as "when: item.model == \'strong\'"',
  at: 'write when, from the beginning: "at: 2h"',
  idle: 'write how long nothing happens: "idle: 25m"',
  share: 'write the share of works from 0 to 1',
  wait: 'write how long the limit lasts: "wait: 30s"',
  for: 'write for how long: "for: 15m"',
  status: 'write the HTTP status, such as "status: 429"',
  text: 'write what is said',
  capacity: 'write how many sandboxes may be up there: "capacity: 8"',
  is: 'write what happens to it: "is: lost", cut_off, slow or drained',
  input: 'write USD per million input tokens',
  output: 'write USD per million output tokens',
};

export const SCENARIO_LANGUAGE: Language = {
  document: 'scenario',
  schema: scenarioSchema,
  start: 'a scenario starts with "kind: scenario", "version: 1", a name and a job',
  head: 'start with "kind: scenario", "version: 1", a name and a job',
  instead:
    'put shared behaviour under "model.default", or name an anchored value with an alias under its own key',
  entries: {
    'events[]': { where: 'in an event', belongs: 'in an event', of: ' of an event' },
    'expect[]': { where: 'in an expectation', belongs: 'in an expectation', of: ' of an expectation' },
    'model.where[]': { where: 'in a rule', belongs: 'in a rule of "model.where"', of: ' of a rule' },
  },
  records: ['prices', 'overrides.conversations', 'policy.hosts'],
  synonyms: SYNONYMS,
  eitherForms: { placement: 'a strategy, or a map of keys' },
  missingRemedy: (name) => MISSING_REMEDY[name] ?? null,
  refusedKey,
};

/** Only `policy` speaks of the limits of the deployment, and of the session nothing does (D10). */
function refusedKey(key: string, at: TreePath): RefusedKey | null {
  if (isSessionLength(key)) {
    return {
      code: 'SCN201',
      message: `${quote(key)} cannot be set: a session always ends after 12 hours (D10)`,
      remedy: 'remove it; "policy" takes idle_time, deletion_time, capacity, grouping, hosts and host',
    };
  }
  if (at[0] === 'overrides' && isDeploymentLimit(key)) {
    const refused = jobLimitRefused(key);
    const remedy = 'idle time and deletion time under test are "policy.idle_time" and "policy.deletion_time"';
    return refused === null ? null : { ...refused, remedy };
  }
  return null;
}
