/** Rows that wait are kept as columns: what comes out is what went in, whatever the gateway wrote. */
import { describe, expect, it } from 'vitest';
import { nanoUsd } from '../../core/money/money.ts';
import type { GatewayRow } from '../../core/money/spend.ts';
import { WaitingRows } from '../../core/reconcile/reconcile-waiting.ts';

function row(own: Partial<GatewayRow>): GatewayRow {
  return {
    responseId: null,
    startedAt: 1_795_000_000_000,
    endedAt: 1_795_000_000_900,
    model: 'coder',
    sessionId: null,
    tags: [],
    keyName: null,
    promptTokens: 10,
    completionTokens: 1,
    cost: nanoUsd(1),
    metadataSessionId: null,
    position: 1,
    ...own,
  };
}

const FIRST = { index: 0, isDuplicate: false, owner: null };

describe('WaitingRows', () => {
  it.each<Partial<GatewayRow>>([
    {},
    { responseId: '' },
    { responseId: 'chatcmpl-1', user: 'ann', team: 'blue', isUnpriced: true, cost: nanoUsd(0) },
    { responseId: 'réponse-漢字\u0000\u001b[31m', model: '<b>\u{1f600}', user: '', team: null },
    { cost: nanoUsd(-Number.MAX_SAFE_INTEGER), promptTokens: Number.MAX_SAFE_INTEGER, completionTokens: 0 },
    { cost: nanoUsd(Number.MAX_SAFE_INTEGER), startedAt: -62_000_000_000_000, endedAt: 8.64e15 },
    { responseId: 'x'.repeat(100_000), position: 4_294_967_297 },
  ])('gives back exactly what was added: %j', (own) => {
    const waiting = new WaitingRows();
    const added = row(own);
    waiting.add(row({ responseId: 'before', user: 'bob' }), FIRST);
    waiting.add(added, { index: 7, isDuplicate: true, owner: 3 });
    waiting.add(row({ responseId: 'after' }), { ...FIRST, index: 8 });
    const { responseId, startedAt, endedAt, model, promptTokens, completionTokens, cost, position } = added;
    expect(waiting.rowAt(1)).toEqual({
      ...{ responseId, startedAt, endedAt, model, promptTokens, completionTokens, cost, position },
      user: added.user ?? null,
      team: added.team ?? null,
      isUnpriced: added.isUnpriced === true,
    });
    expect(waiting.waitingAt(1)).toEqual({ index: 7, isDuplicate: true, owner: 3 });
    expect(waiting.rowAt(2).responseId).toBe('after');
    expect(waiting.waitingAt(0)).toEqual(FIRST);
  });

  it('goes through them in the order of time, and of the export where they began together', () => {
    const waiting = new WaitingRows();
    const begins = [3, 1, 2, 1, -5, 3];
    for (const [index, startedAt] of begins.entries()) waiting.add(row({ startedAt }), { ...FIRST, index });
    expect([...waiting.inOrderOfTime()]).toEqual([4, 1, 3, 2, 0, 5]);
    expect([...new WaitingRows().inOrderOfTime()]).toEqual([]);
  });

  it('keeps ten thousand names apart, and rows of one name together', () => {
    const waiting = new WaitingRows();
    for (let index = 0; index < 10_000; index += 1)
      waiting.add(row({ user: `user-${index}`, team: 'blue' }), { ...FIRST, index });
    expect(waiting.length).toBe(10_000);
    expect(waiting.rowAt(9_999)).toMatchObject({ user: 'user-9999', team: 'blue', model: 'coder' });
  });
});
