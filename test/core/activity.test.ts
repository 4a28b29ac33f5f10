/** What activity of a sandbox is (D9), as a table, and the boundary of its Idle Time (D10). */
import { describe, expect, it } from 'vitest';
import { idleAt, isActivity, latestActivity, type Contact } from '../../core/sandbox/activity.ts';

describe('activity', () => {
  it.each<[Contact, boolean]>([
    [{ kind: 'delivery' }, true],
    [{ kind: 'workspace' }, true],
    [{ kind: 'up', generation: 1 }, false],
    [{ kind: 'up', generation: 2 }, true],
    [{ kind: 'event', event: 'MessageEvent' }, true],
    [{ kind: 'event', event: 'ActionEvent' }, true],
    [{ kind: 'event', event: 'ConversationStateUpdateEvent' }, false],
  ])('%j counts: %s', (contact, counts) => {
    expect(isActivity(contact)).toBe(counts);
  });

  it('is the latest of what is known', () => {
    expect(latestActivity(5, [])).toBe(5);
    expect(latestActivity(5, [null, 4])).toBe(5);
    expect(latestActivity(5, [7, null, 6])).toBe(7);
  });

  it('ends at the Idle Time itself, or never', () => {
    expect(idleAt(100, 20)).toBe(120);
    expect(idleAt(100, null)).toBe(Infinity);
  });
});
