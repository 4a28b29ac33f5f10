/** How often an error is met by a further try. */
import { describe, expect, it } from 'vitest';
import { BRIEF, ONCE, PATIENT, waitAfter, waitBeforeRetry } from '../../core/machine/retry.ts';

describe('waitAfter', () => {
  it('tries nothing again after a definite error', () => {
    expect(waitAfter({ code: 'agent_unreachable', retry: false }, PATIENT, 0)).toBeNull();
  });

  it.each([0, 6, 7, 1_000])('keeps to the policy at try %s', (tried) => {
    for (const policy of [BRIEF, ONCE, PATIENT])
      expect(waitAfter({ code: 'agent_unreachable', retry: true }, policy, tried)).toBe(
        waitBeforeRetry(policy, tried),
      );
  });

  it.each([0, 7, 1_000])('waits for a sandbox on its way up, whatever the policy, at try %s', (tried) => {
    const waits = [BRIEF, PATIENT].map((policy) =>
      waitAfter({ code: 'sandbox_starting', retry: true }, policy, tried),
    );
    expect(new Set(waits)).toEqual(new Set([waitBeforeRetry(PATIENT, tried)]));
    expect(waits).not.toContain(null);
  });
});
