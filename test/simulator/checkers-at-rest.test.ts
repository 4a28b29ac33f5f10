/** Every checker of what must have happened can fail: each is shown a world at rest in which its invariant is broken. */
import { describe, expect, it } from 'vitest';
import type { ActivityCommand } from '../../core/machine/command.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import { HOSTS_AT_REST } from '../../simulator/checkers/hosts/list-of-hosts.ts';
import { PUNCTUAL, type Rest } from '../../simulator/checkers/checker.ts';
import { DEALINGS_AT_REST } from '../../simulator/checkers/list-of-dealings.ts';
import { LIVENESS } from '../../simulator/checkers/list.ts';
import { SIMULATED_USER } from '../../simulator/models/run-model.ts';
import {
  BOX,
  conversation,
  facts,
  NOW,
  released,
  rest,
  running,
  sandbox,
  TALK,
  talking,
  two,
  up,
} from './doctored.ts';

const accepted = new Map([['m', TALK]]);
const both = { delivered: new Map([['m', 1]]), refused: new Map([['m', 1]]) };
const twice = { ...both, refused: new Map([['m', 2]]) };
const outstanding = [{ id: 'out', type: 'watchIdle' } as ActivityCommand];
const watched = { ...running, watch: 'out' };
const stopping = sandbox({ phase: 'pausing', phaseDeadline: NOW });
const inHand = { ...talking, awaiting: 'out' };
const resuming = { ...talking, resumeRequestId: 'r' };
const AT_REST: readonly { readonly name: string; readonly holds: Rest; readonly broken: Rest }[] = [
  {
    name: 'L1',
    holds: rest({ sandbox: sandbox({ phaseDeadline: NOW }) }),
    broken: rest({ sandbox: sandbox({ phaseDeadline: null }) }),
  },
  {
    name: 'L1',
    holds: rest({ sandbox: running }),
    broken: rest({ sandbox: sandbox({ phase: 'resuming', phaseDeadline: NOW - 1 }) }),
  },
  {
    name: 'L1',
    holds: rest({ sandbox: stopping }, { now: NOW + 1, timeliness: { ...PUNCTUAL, settleMs: 1 } }),
    broken: rest({ sandbox: stopping }, { now: NOW + 1 }),
  },
  {
    name: 'L2',
    holds: rest({ sandbox: watched }, { now: NOW + 20 * MINUTE_MS, outstanding }),
    broken: rest({ sandbox: watched }, { now: NOW + 20 * MINUTE_MS + 1, outstanding }),
  },
  {
    name: 'L2',
    holds: rest({ sandbox: watched }, { outstanding }),
    broken: rest({ sandbox: watched }),
  },
  {
    name: 'L3',
    holds: rest({ sandbox: released }, { now: NOW + DAY_MS }),
    broken: rest({ sandbox: released }, { now: NOW + 10 * DAY_MS + 1 }),
  },
  {
    name: 'L4',
    holds: rest({ sandbox: running }, { facts: facts(up(1)) }),
    broken: rest({ sandbox: released }, { facts: facts(up(1)) }),
  },
  {
    name: 'L4',
    holds: rest({ sandbox: running }, { facts: facts({ slots: new Map([[BOX, SIMULATED_USER]]) }) }),
    broken: rest({ sandbox: released }, { facts: facts({ slots: two }) }),
  },
  {
    name: 'L4',
    holds: rest({ sandbox: running }, { facts: facts(up(2)) }),
    broken: rest({ sandbox: running }, { facts: facts(up(1, 2)) }),
  },
  {
    name: 'L5',
    holds: rest(
      { conversation: conversation() },
      { facts: facts({ accepted, delivered: new Map([['m', 1]]) }) },
    ),
    broken: rest({ conversation: conversation({ queue: [] }) }, { facts: facts({ accepted }) }),
  },
  {
    name: 'L5',
    holds: rest({ conversation: inHand }, { facts: facts({ accepted }), outstanding }),
    broken: rest({ conversation: inHand }, { facts: facts({ accepted }) }),
  },
  {
    name: 'L5',
    holds: rest({ conversation: resuming, sandbox: stopping }, { facts: facts({ accepted }) }),
    broken: rest({ conversation: resuming, sandbox: released }, { facts: facts({ accepted }) }),
  },
  {
    name: 'L5',
    holds: rest({ conversation: conversation({ queue: [] }) }, { facts: facts({ accepted, ...both }) }),
    broken: rest({ conversation: conversation({ queue: [] }) }, { facts: facts({ accepted, ...twice }) }),
  },
  {
    name: 'L6',
    holds: rest({ conversation: conversation({ startDeadline: NOW + HOUR_MS }) }),
    broken: rest({ conversation: conversation({ startDeadline: null }) }),
  },
  {
    name: 'L6',
    holds: rest({ conversation: conversation({ startTask: 'READY' }) }),
    broken: rest({ conversation: conversation({ startTask: 'ERROR' }) }),
  },
  {
    name: 'L7',
    holds: rest({ sandbox: running }, { facts: facts(up(1)) }),
    broken: rest({ sandbox: running }),
  },
  {
    name: 'L7',
    holds: rest({ sandbox: sandbox({ phase: 'missing' }) }),
    broken: rest({ sandbox: sandbox({ phase: 'missing' }) }, { facts: facts(up(1)) }),
  },
];

describe('liveness checkers', () => {
  it.each(AT_REST)('$name fails when it should', ({ name, holds, broken }) => {
    const checker = LIVENESS.find((one) => one.name === name);
    expect(checker?.check(holds)).toEqual([]);
    expect(checker?.check(broken)[0]?.problem).toEqual(expect.any(String));
  });

  it('are all shown a broken world', () => {
    expect([...new Set(AT_REST.map(({ name }) => name))]).toEqual(
      LIVENESS.flatMap((one) => ([...DEALINGS_AT_REST, ...HOSTS_AT_REST].includes(one) ? [] : [one.name])),
    );
  });
});
