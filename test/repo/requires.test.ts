/** Shows what the gate for tools does in each case, without taking a tool away from the machine. */
import { describe, expect, it } from 'vitest';
import { missing, planGroup } from '../helpers/requires.ts';

describe('planGroup()', () => {
  it.each([
    [null, false, 'run'],
    [null, true, 'run'],
    ['docker is not installed', false, 'skip'],
    ['docker is not installed', true, 'fail'],
  ] as const)('with %j and required %j: %s', (reason, isRequired, plan) => {
    expect(planGroup(reason, isRequired)).toBe(plan);
  });

  it('finds a tool that works', () => {
    expect(missing('git')).toBeNull();
  });
});
