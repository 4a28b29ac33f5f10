/** What was read lately: once per owner and key, up to a bound, and never an absence. */
import { describe, expect, it } from 'vitest';
import { Recent } from '../../activities/recent.ts';

describe('Recent', () => {
  it('reads once per owner and key, and lets the oldest go at its bound', async () => {
    const recent = new Recent<object, string, string>(2);
    const [here, there] = [{}, {}];
    const reads: string[] = [];
    const get = (owner: object, key: string): Promise<string> =>
      recent.get(owner, key, () => {
        reads.push(key);
        return Promise.resolve(key.toUpperCase());
      });
    expect([await get(here, 'a'), await get(here, 'a'), await get(there, 'a')]).toEqual(['A', 'A', 'A']);
    expect(reads).toEqual(['a', 'a']);
    for (const key of ['b', 'a', 'b', 'c', 'b', 'c', 'a']) await get(here, key);
    expect(reads).toEqual(['a', 'a', 'b', 'c', 'a']);
  });

  it('keeps nothing of a read that failed', async () => {
    const recent = new Recent<object, string, string>(2);
    const owner = {};
    await expect(recent.get(owner, 'a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await recent.get(owner, 'a', () => Promise.resolve('A'))).toBe('A');
  });
});
