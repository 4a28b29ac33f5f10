/** An entity of the Temporal driver: taken back to its last batch it is as if it had never gone further. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MachineEvent } from '../../core/machine/command.ts';
import { basisOf, restOn } from '../../workflows/basis.ts';
import { Entity } from '../../workflows/entity.ts';
import { Inbox, type Input, type News } from '../../workflows/input.ts';
import { SPEC, FIRST, SANDBOX, SECOND } from '../core/sandbox-life.ts';

const ADDRESS = { machine: 'sandbox', id: SANDBOX } as const;
const AT = 1_784_900_000_000;

/** Words of a life; an answer goes to whatever command is out by then. */
const WORDS = [
  'attach first',
  'attach second',
  'notice',
  'pause',
  'resume',
  'delete',
  'ready',
  'stopped',
  'idle',
  'deadline',
] as const;
type Word = (typeof WORDS)[number];

function envelopeFor(word: Word, index: number): MachineEvent {
  const requestId = `${word} ${index}`;
  switch (word) {
    case 'attach first':
    case 'attach second': {
      const conversationId = word === 'attach first' ? FIRST : SECOND;
      return { type: 'attachRequested', requestId, conversationId, explicit: false, spec: null };
    }
    case 'notice':
      return { type: 'agentNoticed', conversationId: FIRST, sequence: index, activity: 'working' };
    case 'pause':
      return { type: 'pauseRequested', requestId, reason: 'user' };
    case 'resume':
      return { type: 'resumeRequested', requestId, conversationId: null };
    default:
      return { type: 'deleteRequested', requestId };
  }
}

const ANSWERS: Partial<Record<Word, MachineEvent['type']>> = {
  ready: 'sandboxReady',
  stopped: 'sandboxStopped',
  idle: 'idleReached',
};

interface Spoken {
  readonly word: Word;
  readonly index: number;
}

function inputOf(entity: Entity, { word, index }: Spoken): Input {
  const at = AT + index * 60_000;
  if (word === 'deadline') return { kind: 'deadline', at };
  const answer = ANSWERS[word];
  if (answer === undefined)
    return { kind: 'envelope', at, envelope: { id: `${word} ${index}`, event: envelopeFor(word, index) } };
  const commandId = [...entity.out.keys()].at(-1) ?? 'none';
  return { kind: 'answer', at, commandId, event: { type: answer, commandId } as unknown as MachineEvent };
}

function created(): Entity {
  const entity = new Entity(ADDRESS, null);
  const envelope = { id: 'born', event: { type: 'created', spec: SPEC } } as const;
  entity.apply({ kind: 'envelope', at: AT, envelope });
  return entity;
}

function live(entity: Entity, words: readonly Spoken[]): readonly Input[] {
  return words.map((spoken) => {
    const input = inputOf(entity, spoken);
    entity.apply(input);
    return input;
  });
}

/** Envelopes only, and strikes of the timer: answers name commands, which differ with what was taken before. */
function newsOf({ word, index }: Spoken): News {
  if (word === 'deadline') return { kind: 'deadline' };
  return { kind: 'envelope', envelope: { id: `${word} ${index}`, event: envelopeFor(word, index) } };
}

/** An entity that takes what came in goes of these sizes, each at an instant of its own; the rest waits. */
function taking(before: readonly Spoken[], news: readonly News[], sizes: readonly number[]) {
  const entity = created();
  live(entity, before);
  entity.settle();
  const inbox = new Inbox();
  const waiting = [...news];
  for (const [index, size] of sizes.entries()) {
    for (const one of waiting.splice(0, size)) inbox.put(one);
    for (const input of inbox.take(AT + index * 1_000)) entity.apply(input);
  }
  for (const one of waiting) inbox.put(one);
  return { entity, inbox };
}

const seenFrom = (entity: Entity): unknown => ({
  state: entity.state,
  out: [...entity.out.values()],
  seen: entity.seenIds,
  inputs: entity.inputs,
  orders: entity.orders,
  isAtRest: entity.isAtRest,
  deadline: entity.deadline,
});

const spoken = fc.record({ word: fc.constantFrom(...WORDS), index: fc.integer({ min: 1, max: 40 }) });
const words = fc.array(spoken, { maxLength: 12 });

describe('an entity', () => {
  it('that is taken back is what it would be without what it had gone through', () => {
    fc.assert(
      fc.property(words, words, words, (before, tentative, instead) => {
        const [one, other] = [created(), created()];
        for (const entity of [one, other]) {
          live(entity, before);
          entity.settle();
        }
        const inputs = live(other, instead);
        const applied = other.inputs;

        live(one, tentative);
        const taken = one.inputs;
        expect(one.rebase(inputs)).toEqual(taken);
        expect(seenFrom(one)).toEqual(seenFrom(other));
        // What is written down is what was applied, and leads to the same once more.
        one.rebase(applied);
        expect(seenFrom(one)).toEqual(seenFrom(other));
      }),
    );
  });

  it('that is taken back counts its steps from there anew, so that a step taken twice has one number', () => {
    const told: string[] = [];
    const carried = { version: 1, state: created().state, out: [], seen: [], batch: 0 } as const;
    const entity = new Entity(ADDRESS, carried, {
      onStep: ({ event }, number) => told.push(`${number} ${event.type}`),
    });
    live(entity, [{ word: 'attach first', index: 1 }]);
    entity.settle();
    const before = told.splice(0);
    live(entity, [{ word: 'attach second', index: 2 }]);
    const inputs = entity.inputs;
    const first = told.splice(0);
    entity.rebase(inputs);
    expect(before.length).toBeGreaterThan(0);
    expect(first.length).toBeGreaterThan(0);
    expect(told).toEqual(first);
    expect(first[0]?.split(' ')[0]).toBe(String(before.length + 1));
  });

  it('that goes on from another run orders what that one had out, also when it is taken back', () => {
    fc.assert(
      fc.property(words, words, (before, tentative) => {
        const last = created();
        live(last, before);
        last.settle();
        const carried = {
          version: 1,
          state: last.state,
          out: [...last.out.values()],
          seen: last.seenIds,
          batch: 3,
        } as const;
        const next = new Entity(ADDRESS, carried);
        expect(next.orders.commands).toEqual(carried.out);
        const fresh = structuredClone(seenFrom(next));
        live(next, tentative);
        next.rebase([]);
        expect(seenFrom(next)).toEqual(fresh);
      }),
    );
  });

  it('takes what a batch rests on, however else it had taken it, and the rest after it', () => {
    const cuts = fc.array(fc.nat({ max: 4 }), { maxLength: 6 });
    fc.assert(
      fc.property(words, words, cuts, fc.nat({ max: 6 }), cuts, (before, came, lived, said, replayed) => {
        // A timer strikes once before it is armed anew.
        const strike = came.findIndex(({ word }) => word === 'deadline');
        const news = came.filter(({ word }, at) => word !== 'deadline' || at === strike).map(newsOf);
        const original = taking(before, news, lived.slice(0, said));
        const basis = basisOf(original.entity.inputs);
        const other = taking(before, news, replayed);
        restOn(basis, other.entity, other.inbox);
        expect(seenFrom(other.entity)).toEqual(seenFrom(original.entity));
        // What one takes from here on, the other does.
        for (const { entity, inbox } of [original, other]) {
          entity.settle();
          for (const input of inbox.take(AT + 1)) entity.apply(input);
        }
        expect(seenFrom(other.entity)).toEqual(seenFrom(original.entity));
      }),
    );
  });

  it('says so when a batch rests on what never came', () => {
    const entity = created();
    expect(() => restOn([{ kind: 'answer', count: 1, at: AT }], entity, new Inbox())).toThrow(
      'there is no further answer',
    );
  });

  it('writes down nothing that does not count: repeats, and answers to what is not out', () => {
    const entity = created();
    const [envelope] = live(entity, [{ word: 'attach first', index: 1 }]);
    const count = entity.inputs.length;
    if (envelope !== undefined) entity.apply(envelope);
    entity.apply({ kind: 'answer', at: AT, commandId: 'nobody', event: null });
    expect(entity.inputs.length).toBe(count);
  });
});

describe('what came', () => {
  const envelope = (id: string) => ({ id, event: { type: 'deadline' } }) as const;

  it('is taken once: answers, then letters, then the deadline', () => {
    const inbox = new Inbox();
    inbox.put({ kind: 'deadline' });
    inbox.put({ kind: 'envelope', envelope: envelope('a') });
    inbox.put({ kind: 'answer', commandId: 'c', event: null });
    expect(inbox.isEmpty).toBe(false);
    expect(inbox.take(5).map(({ kind, at }) => [kind, at])).toEqual([
      ['answer', 5],
      ['envelope', 5],
      ['deadline', 5],
    ]);
    expect(inbox.isEmpty).toBe(true);
    expect(inbox.take(6)).toEqual([]);
  });

  it('comes before what came since when it is put back, and is dated anew', () => {
    const inbox = new Inbox();
    for (const id of ['a', 'b']) inbox.put({ kind: 'envelope', envelope: envelope(id) });
    const taken = inbox.take(5);
    inbox.put({ kind: 'envelope', envelope: envelope('c') });
    inbox.putBack(taken);
    const again = inbox.take(6);
    expect(again).toEqual(['a', 'b', 'c'].map((id) => ({ kind: 'envelope', envelope: envelope(id), at: 6 })));
  });
});
