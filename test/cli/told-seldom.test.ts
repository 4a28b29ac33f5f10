/** What a sandbox causes to be said, and how descriptors are shared. */
import { describe, expect, it } from 'vitest';
import { descriptorShares, descriptorsMax } from '../../host/sandboxes/descriptor-shares.ts';
import { toldSeldom } from '../../host/proxy/endpoints.ts';

describe('what is told seldom', () => {
  it('is told once for each text, so many in a burst, then as many as somebody reads, with what was left out', () => {
    let now = 0;
    const said: string[] = [];
    const tell = toldSeldom({ now: () => now }, (text) => said.push(text));
    for (let times = 0; times < 5; times += 1) tell('same');
    for (let index = 0; index < 10_000; index += 1) tell(`made up ${index}`);
    expect(said).toHaveLength(20);
    now += 6_000;
    tell('next');
    tell('after');
    expect(said.slice(20)).toEqual(['next (9981 other notices were left out)']);
    now += 600_000;
    tell('same');
    expect(said.at(-1)).toBe('same (1 other notices were left out)');
  });
});

describe('descriptors', () => {
  it.each([256, 1_024, 19_900, 1_048_576, Infinity])('%d leave a third to everything else', (most) => {
    const { proxy, webhook, git, egress } = descriptorShares(most);
    expect(proxy + webhook + git + 2 * egress).toBeLessThanOrEqual((most * 2) / 3);
    expect(Math.max(proxy, webhook, git, egress)).toBeLessThanOrEqual(4_096);
  });

  it('are read of this process', () => {
    expect(descriptorsMax()).toBeGreaterThan(100);
  });
});
