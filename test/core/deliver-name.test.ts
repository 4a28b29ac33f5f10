/** Names of branches: Git itself is the judge. */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillDeliverText, isBranchName } from '../../core/plan/deliver-name.ts';

describe('isBranchName', () => {
  it('takes nothing that Git refuses', () => {
    const piece = fc.constantFrom('a', 'b1', '/', '.', '..', '-', '@', '{', '.lock', '~', ' ', '*', '_', 'é');
    const name = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(name, (text) => {
        const git = spawnSync('git', ['check-ref-format', '--branch', text]).status === 0;
        return !isBranchName(text) || git;
      }),
      { numRuns: 60 },
    );
  });

  it.each(['parley/run-1/one', 'a.b/c_d', 'x'])('takes %s', (name) => {
    expect(isBranchName(name)).toBe(true);
  });
});

describe('fillDeliverText', () => {
  it('fills every word once, and never reads again what it has filled in', () => {
    const words = { job: 'j', run: '{key}', key: 'k/1' };
    expect(fillDeliverText('{job}/{run}/{key}/{key} {other}', words)).toBe('j/{key}/k/1/k/1 {other}');
  });
});
