/** The proxy's waiting rows come first, for every reader of the spend. */
import { describe, expect, it } from 'vitest';
import { settledSpend } from '../../host/proxy/settled-spend.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import { spendRow } from '../contract/store-rows.ts';

describe('settledSpend()', () => {
  it('reads what is stored, and what was waiting once there is somebody to flush', async () => {
    const stored: SpendRow[] = [spendRow('call-1')];
    const spend = settledSpend({
      write: (rows) => Promise.resolve(void stored.push(...rows)),
      missing: () => Promise.resolve([]),
      noteLoss: () => Promise.resolve(),
      losses: () => Promise.resolve([]),
      search: () => Promise.resolve([...stored]),
      joinable: () => Promise.resolve([...stored]),
      interruptOpen: (at) => Promise.resolve(at),
    });
    expect(await spend.search({})).toHaveLength(1);
    spend.flushWith(() => spend.write([spendRow('call-2')]));
    expect((await spend.search({})).map(({ callId }) => callId)).toEqual(['call-1', 'call-2']);
    expect(await spend.joinable({})).toHaveLength(3);
    expect(await spend.interruptOpen(7)).toBe(7);
  });
});
