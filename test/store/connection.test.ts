/** What a failure of the database looks like outside the store. */
import { describe, expect, it } from 'vitest';
import { ParleyError } from '../../core/parley-error.ts';
import { fail } from '../../store/sql/connection.ts';

const failing = (error: unknown) => () => fail('commit a batch', error);

describe('fail()', () => {
  it('names what was tried, and keeps the cause', () => {
    const cause = new Error('disk I/O error');
    const expected = {
      code: 'store_unavailable',
      message: 'Cannot commit a batch: disk I/O error',
      cause,
      retry: true,
    };
    expect(failing(cause)).toThrow(expect.objectContaining(expected));
  });

  it.each(['40001', '40P01'])('tells a transaction that another one won over by its state %s', (code) => {
    const cause = Object.assign(new Error('deadlock detected'), { code });
    expect(failing(cause)).toThrow(expect.objectContaining({ code: 'store_conflict', retry: true }));
  });

  it('lets an error of ours pass', () => {
    const own = new ParleyError('run_exists', 'Cannot store the plan: it has another plan');
    expect(failing(own)).toThrow(own);
  });
});
