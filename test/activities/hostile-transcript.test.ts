/** Pages of events whose number and size a sandbox decides: no reading is without end, and no transcript. */
import { describe, expect, it } from 'vitest';
import { restAfter, syncNewest, syncTranscript } from '../../activities/transcript.ts';
import { TRANSCRIPT_BYTES_MAX, TRANSCRIPT_READ_BYTES_MAX } from '../../core/limits.ts';
import type { AgentEventPage } from '../../ports/agent-server.ts';
import { activityWorld, CONVERSATION, inSandbox, SANDBOX, type ActivityWorld } from './activity-world.ts';
import { agentEvent } from './fake-agent.ts';

const MIB = 1024 * 1024;

async function paging(page: (index: number) => AgentEventPage) {
  const around: ActivityWorld = await activityWorld();
  await inSandbox(around);
  let asked = 0;
  around.agent.events = () => Promise.resolve(page((asked += 1)));
  const target = { address: around.runtime.address(SANDBOX, 1), sessionKey: 'key' };
  return {
    around,
    read: () => syncTranscript(around.world, target, CONVERSATION),
    asked: () => asked,
  };
}

describe('a transcript', () => {
  it.each([
    ['repeat', [agentEvent('e1')]],
    ['are empty', []],
  ])('whose pages %s without end is read no further, and told', async (_, items) => {
    const { around, read, asked } = await paging(() => ({ items, nextPageId: 'more' }));
    await read();
    expect(asked()).toBeLessThanOrEqual(2);
    const [told] = await around.world.lifecycle.lifecycleEvents(CONVERSATION);
    expect(told).toMatchObject({ code: 'transcript_full', detail: expect.stringContaining('have no end') });
  });

  it('whose pages are larger than a transcript may be is read no further', async () => {
    const { read, asked } = await paging((index) => ({
      items: [agentEvent(`e${index}`)],
      nextPageId: 'more',
      bytes: 64 * MIB,
    }));
    await read();
    expect(asked()).toBe(TRANSCRIPT_READ_BYTES_MAX / (64 * MIB) + 1);
  });

  it('that is full is told once, keeps what it has and is read no further', async () => {
    const text = 'x'.repeat(32 * MIB);
    const { around, read, asked } = await paging((index) => ({
      items: [agentEvent(`e${index}`, { text })],
      nextPageId: 'more',
    }));
    const kept = TRANSCRIPT_BYTES_MAX / text.length - 1;
    expect(await read()).toMatchObject({ added: kept });
    expect(asked()).toBe(kept + 1);
    await read();
    expect(asked()).toBe(kept + 2);
    expect(await around.world.events.count(CONVERSATION)).toBe(kept);
    const told = await around.world.lifecycle.lifecycleEvents(CONVERSATION);
    expect(told.map(({ code }) => code)).toEqual(['transcript_full']);
  }, 600_000);

  it('is read on from its last page, from its first where the agent does not know that page, and whole when asked', async () => {
    const around = await activityWorld();
    await inSandbox(around);
    const log = Array.from({ length: 7 }, (_, index) => agentEvent(`e${index}`));
    let asked: (string | null)[] = [];
    around.agent.events = (_target, _id, pageId) => {
      asked.push(pageId);
      const start = Math.max(
        0,
        log.findIndex(({ id }) => id === pageId),
      );
      return Promise.resolve({
        items: log.slice(start, start + 3),
        nextPageId: log[start + 3]?.id ?? null,
      });
    };
    const target = { address: around.runtime.address(SANDBOX, 1), sessionKey: 'key' };
    const read = async (how: typeof syncNewest) => {
      asked = [];
      const { added } = await how(around.world, target, CONVERSATION);
      return { added, asked };
    };
    const pages = log.map(({ id }) => id);
    expect(await read(syncNewest)).toEqual({ added: 7, asked: [null, pages[3], pages[6]] });
    log.push(agentEvent('e7'), agentEvent('e8'), agentEvent('e9'));
    expect(await read(syncNewest)).toEqual({ added: 3, asked: [pages[6], 'e9'] });
    expect(await read(syncNewest)).toEqual({ added: 0, asked: ['e9'] });
    expect(await read(syncTranscript)).toEqual({ added: 0, asked: [null, pages[3], pages[6], 'e9'] });
    log.splice(0, log.length, agentEvent('f0'), agentEvent('f1'));
    expect(await read(syncNewest)).toEqual({ added: 2, asked: ['e9'] });
    log.push(agentEvent('f2'), agentEvent('f3'));
    expect(await read(syncNewest)).toEqual({ added: 2, asked: ['e9', 'f3'] });
  });

  it('is read the more seldom the more it says', () => {
    expect([0, 4 * MIB, 64 * MIB].map(restAfter)).toEqual([0, 1_000, 16_000]);
  });
});
