/** Ids of calls: a common form, never twice, and in the order in which they were made. */
import { describe, expect, it } from 'vitest';
import { callIds } from '../../proxy/spend/call-id.ts';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const AT_MS = 1_700_000_000_000;

describe('ids of calls', () => {
  it('are UUIDs of version 7 with the time in front', () => {
    const newId = callIds(() => AT_MS);
    const id = newId();
    expect(id).toMatch(UUID_7);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(AT_MS);
  });

  it('rise within a millisecond, past the end of its count, and when the clock is set back', () => {
    let now = AT_MS;
    const newId = callIds(() => now);
    const ids = Array.from({ length: 10_000 }, () => newId());
    now = AT_MS + 5;
    ids.push(newId());
    now = AT_MS - 60_000;
    ids.push(newId(), newId());
    expect(ids.every((id) => UUID_7.test(id))).toBe(true);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('differ between processes that start in the same millisecond', () => {
    const [one, other] = [callIds(() => AT_MS), callIds(() => AT_MS)];
    const ids = Array.from({ length: 1_000 }, () => [one(), other()]).flat();
    expect(new Set(ids).size).toBe(ids.length);
  });
});
