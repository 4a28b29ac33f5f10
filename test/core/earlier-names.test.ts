/** What builds before 0.2 wrote is read under the names of today, and nothing else is touched. */
import { describe, expect, it } from 'vitest';
import {
  envelopeWithTodaysNames,
  inputsWithTodaysNames,
  withTodaysNames,
} from '../../core/machine/earlier-names.ts';

describe('what an earlier build wrote', () => {
  it.each([
    [
      { type: 'started', birth: { tags: { birth: 'a tag of a user' } }, watcher: null },
      { type: 'started', spec: { tags: { birth: 'a tag of a user' } }, watcher: null },
    ],
    [
      { type: 'placed', birth: null, commandId: 'c' },
      { type: 'placed', spec: null, commandId: 'c' },
    ],
    [
      { type: 'itemsWished', wishes: [{ kind: 'begin' }] },
      { type: 'itemsDirected', directives: [{ kind: 'begin' }] },
    ],
    [
      { phase: 'active', birth: { title: 't' } },
      { phase: 'active', spec: { title: 't' } },
    ],
  ])('has the names of today', (earlier, today) => {
    expect(withTodaysNames(earlier)).toEqual(today);
  });

  it('keeps the order of its keys, so that its text compares', () => {
    const event = { type: 'created', birth: { sandboxId: 's' } };
    const inputs = [
      { kind: 'letter', letter: { id: 'i', event }, at: 1 },
      { kind: 'answer', commandId: 'c', event: { type: 'placed', birth: null }, at: 2 },
    ];
    expect(JSON.stringify(inputsWithTodaysNames(inputs))).toBe(
      '[{"kind":"envelope","envelope":{"id":"i","event":{"type":"created","spec":{"sandboxId":"s"}}},"at":1},' +
        '{"kind":"answer","commandId":"c","event":{"type":"placed","spec":null},"at":2}]',
    );
  });
});

describe('what today writes', () => {
  it.each([null, 'text', 7, [['birth']], { type: 'sent', text: 'birth' }, { type: 'started', spec: {} }])(
    'is the same value: %j',
    (value) => {
      expect(withTodaysNames(value)).toBe(value);
      expect(inputsWithTodaysNames([value])).toEqual([value]);
    },
  );

  it('is the same envelope', () => {
    const envelope = { id: 'i', event: { type: 'started', spec: {} } };
    expect(envelopeWithTodaysNames(envelope)).toBe(envelope);
  });
});
