/**
 * The rules of scenarios alone, SCN; numbers are grouped as those of jobs are.
 * Owns their part of the catalogue; must not own a check.
 */
import { error, warning, type Rule } from './rule.ts';

export const SCENARIO_RULES = {
  // Schema of scenarios
  SCN201: error(
    'session length',
    'No key sets the length of a session: it is a constant of 12 hours (D10), and a scenario plays the product.',
  ),
  SCN202: error('not one action', 'An event does exactly one thing.'),
  SCN203: error(
    'not one target',
    'An event about a sandbox or conversation names it by exactly one of its key and a pick.',
  ),
  SCN204: error(
    'not one expectation',
    'An expectation is exactly one of "at", "always", "never", "eventually" and "end".',
  ),
  SCN205: error(
    'bad count of tokens',
    'A count of tokens is a whole number, or thousands or millions such as 180k or 1.2M.',
  ),
  SCN206: error('bad instant', 'An instant is written in UTC, with the date, the time and a Z, and exists.'),
  SCN207: error(
    'bad distribution',
    'The bounds of a distribution are in the wrong order, or all weights are 0.',
  ),
  SCN208: error('clock too long', 'The clock of a scenario runs for more than nothing and at most 366 days.'),
  SCN209: error('bad arrivals', 'Arrivals say once when they come, and for as many as there are.'),
  // References of scenarios
  SCN301: error(
    'unknown conversation',
    'A key is not one of the plan, or an override names an id that the job does not have.',
  ),
  SCN302: error('unknown fault', 'There is no kind of fault of that name.'),
  SCN303: error(
    'unknown host',
    'Something happens to a host that the policy does not have, or hosts are described and there are none.',
  ),
  // Expressions of scenarios
  SCN401: error('expression syntax', 'The text is not an expression of the Common Expression Language.'),
  SCN402: error(
    'unknown name',
    'An expression uses a variable, field or function that does not exist there.',
  ),
  SCN403: error(
    'wrong type',
    'An expression joins values of types that do not fit, or is not true or false.',
  ),
  SCN404: error(
    'impossible value',
    'An expression holds a text that is no duration, or compares a field with a word it never holds.',
  ),
  SCN405: error('expression too large', 'An expression is longer, deeper or more nested than is read.'),
  SCN406: error(
    'condition fails',
    'The condition of a rule cannot be evaluated for a conversation of the plan.',
  ),
  // Lint of scenarios
  SCN501: warning('never looked at', 'An expectation, or an event, lies at or beyond the end of the clock.'),
  SCN502: warning('nothing expected', 'A scenario without expectations passes whatever happens.'),
  SCN503: warning(
    'rule matches nothing',
    'No conversation of the plan meets the condition of a rule, or an earlier rule takes each of them.',
  ),
  SCN504: warning('always the same', 'A condition depends on nothing, so it says nothing about the run.'),
  SCN505: warning(
    'guard comes first',
    'Work is longer than a session, but a deadline or limit of the job ends it before the session does.',
  ),
  SCN506: warning('price of no model', 'No conversation of the plan uses the model that has a price.'),
} as const satisfies Record<string, Rule>;
