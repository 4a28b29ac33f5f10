/** What older builds stored and said is read under the names of today, and what has them stays the same object. */
import { describe, expect, it } from 'vitest';
import {
  eventInPresentNames,
  inputInPresentNames,
  stateInPresentNames,
} from '../../core/machine/former-names.ts';

describe('eventInPresentNames()', () => {
  it.each([
    [
      { type: 'started', birth: { conversationId: 'c' }, watcher: null },
      { type: 'started', spec: { conversationId: 'c' }, watcher: null },
    ],
    [
      { type: 'placed', commandId: 'k', birth: null },
      { type: 'placed', commandId: 'k', spec: null },
    ],
    [
      { type: 'itemsWished', wishes: [{ index: 1 }] },
      { type: 'itemsDirected', directives: [{ index: 1 }] },
    ],
  ])('names the fields of %j', (former, present) => {
    // Text is compared where a journal is: the order of the fields counts.
    expect(JSON.stringify(eventInPresentNames<unknown>(former))).toBe(JSON.stringify(present));
  });

  it('leaves what users wrote inside of a field', () => {
    const event = {
      type: 'started',
      spec: { initialMessage: { text: '{"birth":1}' }, tags: { birth: 'x' } },
    };
    expect(eventInPresentNames(event)).toBe(event);
  });

  it.each([null, undefined, 'birth', 3, ['birth']])('gives %j back', (value) => {
    expect(eventInPresentNames(value)).toBe(value);
  });

  it('takes no name from what every object inherits', () => {
    const event = { type: 'toString', constructor: 1 };
    expect(eventInPresentNames(event)).toBe(event);
  });
});

describe('stateInPresentNames()', () => {
  it('names the first values of a conversation, and where the items of a run stand', () => {
    expect(stateInPresentNames<unknown>({ version: 1, birth: { userId: 'u' } })).toEqual({
      version: 1,
      spec: { userId: 'u' },
    });
    expect(stateInPresentNames<unknown>({ standing: { waiting: [0] }, items: [] })).toEqual({
      byPhase: { waiting: [0] },
      items: [],
    });
  });

  it('is the same object where the names are those of today', () => {
    const state = { version: 1, spec: {}, byPhase: undefined };
    expect(stateInPresentNames(state)).toBe(state);
    expect(stateInPresentNames(null)).toBeNull();
  });
});

describe('inputInPresentNames()', () => {
  it('opens a letter', () => {
    const letter = { id: 'l', event: { type: 'created', birth: {} } };
    const present = {
      kind: 'envelope',
      envelope: { id: 'l', event: { type: 'created', spec: {} } },
      at: 7,
    };
    expect(JSON.stringify(inputInPresentNames<unknown>({ kind: 'letter', letter, at: 7 }))).toBe(
      JSON.stringify(present),
    );
  });

  it('names the event of an answer, and keeps one without', () => {
    const event = { type: 'placed', birth: null };
    expect(inputInPresentNames<unknown>({ kind: 'answer', commandId: 'k', event })).toEqual({
      kind: 'answer',
      commandId: 'k',
      event: { type: 'placed', spec: null },
    });
    const none = { kind: 'answer', commandId: 'k', event: null };
    expect(inputInPresentNames(none)).toEqual(none);
  });

  it('names what a batch rested on', () => {
    expect(inputInPresentNames<unknown>({ kind: 'letter', count: 2, at: 7 })).toEqual({
      kind: 'envelope',
      count: 2,
      at: 7,
    });
  });
});
