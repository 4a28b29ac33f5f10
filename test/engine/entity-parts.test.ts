/** What a commit writes of lists, by what the store has of them. */
import { describe, expect, it } from 'vitest';
import { partsWrite } from '../../engine/entity-parts.ts';

const [A, B, C, D] = [{ n: 1 }, { n: 1 }, { n: 3 }, { n: 4 }];
const at = (position: number, state: unknown) => ({ position, state });

describe('partsWrite()', () => {
  it.each([
    ['the same list', [A, B], null, []],
    ['an equal element that is another', [A, B], [A, { n: 1 }], [at(1, { n: 1 })]],
    ['two that changed places', [A, C], [C, A], [at(0, C), at(1, A)]],
    ['appended elements', [A], [A, B, C], [at(1, B), at(2, C)]],
    ['a shorter list', [A, B, C], [A], []],
    ['a shorter list with another element', [A, B, C], [D], [at(0, D)]],
    ['an empty list', [A], [], []],
    ['the first elements', [], [A], [at(0, A)]],
  ])('writes of %s what changed', (_name, kept, next, changed) => {
    const list = next ?? kept;
    const other = [D];
    const { anew, lists } = partsWrite({ list: kept, other }, { list, other });
    expect(anew).toBe(false);
    expect(lists['list']).toEqual({ length: list.length, shrinks: list.length < kept.length, changed });
    expect(lists['other']).toEqual({ length: 1, shrinks: false, changed: [] });
  });

  it.each([
    ['is not known', null],
    ['has a list less', { list: [A] }],
    ['has a list more', { list: [A], other: [B], more: [] }],
    ['has another list', { list: [A], others: [B] }],
  ])('writes everything when what the store has %s', (_name, kept) => {
    expect(partsWrite(kept, { list: [A], other: [B] })).toEqual({
      anew: true,
      lists: {
        list: { length: 1, shrinks: false, changed: [at(0, A)] },
        other: { length: 1, shrinks: false, changed: [at(0, B)] },
      },
    });
  });
});
