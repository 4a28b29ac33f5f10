/**
 * Walks a transition table: every state given × every type of event, absent cells included.
 * Owns the rows and the laws each of them must keep; which states there are is each machine's own test.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../core/machine/machine.ts';
import type { Cell } from '../../core/machine/transition-table.ts';

type Typed = { readonly type: string };

export interface TableWalk<State extends { readonly phase: string }, Event extends Typed> {
  readonly name: 'sandbox' | 'conversation' | 'run' | 'shard';
  readonly machine: Machine<State | null, Event, Typed>;
  readonly table: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly phases: readonly string[];
  /** Canonical states by name: the phase, and a word in brackets for what is special. */
  readonly states: readonly { readonly name: string; readonly state: State; readonly now: number }[];
  /** For each type the event this state would accept, if it accepts any of the type. */
  readonly events: Readonly<Record<Event['type'], (state: State) => Event>>;
  /** Further events that a state is shown, each with a word that distinguishes it from the ordinary one. */
  readonly more?: (state: State, now: number) => readonly { readonly word: string; readonly event: Event }[];
}

interface Row {
  readonly name: string;
  readonly from: string;
  readonly type: string;
  readonly to: string;
  readonly silent: boolean;
  readonly orders: readonly string[];
  readonly line: string;
}

type AnyCell = Cell<string, never, never>;

/** Registers the tests of one machine. */
export function walkTable<State extends { readonly phase: string }, Event extends Typed>(
  walk: TableWalk<State, Event>,
): void {
  const cellOf = (phase: string, type: string) => walk.table[phase]?.[type] as AnyCell | undefined;
  const rows = allRows(walk);

  describe(`the table of a ${walk.name}`, () => {
    it('has a canonical state for every phase', () => {
      const seen = new Set(walk.states.map(({ state }) => state.phase));
      expect([...seen].sort()).toEqual([...walk.phases].sort());
    });

    it.each(rows)('$line', ({ from, type, to, silent }) => {
      const cell = cellOf(from, type);
      if (cell === undefined) expect(silent).toBe(true);
      else if (!silent) expect(cell.to).toContain(to);
    });

    it('reaches every phase that a cell names, by some row that is not silent', () => {
      expect(unreached(walk, rows)).toEqual([]);
    });

    it('gives back the same state for an answer to a command that nobody awaits', () => {
      expect(acceptedThoughLate(walk)).toEqual([]);
    });

    it('does nothing a millisecond before a deadline', () => {
      expect(movedTooEarly(walk)).toEqual([]);
    });

    it('never spins: after a deadline the next one lies later', () => {
      expect(spinning(walk)).toEqual([]);
    });

    it('is as written in the golden file', () => {
      const file = path.resolve(import.meta.dirname, `../golden/lifecycle/${walk.name}.txt`);
      const text = print(rows);
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
      expect(readFileSync(file, 'utf8')).toBe(text);
    });
  });
}

function allRows<State extends { readonly phase: string }, Event extends Typed>(
  walk: TableWalk<State, Event>,
): readonly Row[] {
  const types = Object.keys(walk.events) as Event['type'][];
  return walk.states.flatMap(({ name, state, now }) => {
    const due = walk.machine.deadline(state);
    const show = (event: Event, at: number, word = ''): Row => {
      const step = walk.machine.step(state, event, at);
      const silent = step.state === state && step.commands.length === 0;
      const orders = step.commands.map((command) => command.type);
      const to = step.state?.phase ?? 'none';
      return {
        name,
        from: state.phase,
        type: event.type,
        to,
        silent,
        orders,
        line: `${name} | ${event.type}${word}`,
      };
    };
    const ordinary = types.map((type) =>
      show(walk.events[type](state), type === 'deadline' && due !== null ? due : now + 1),
    );
    const early =
      due === null ? [] : [show(walk.events['deadline' as Event['type']](state), due - 1, ' (early)')];
    const more = (walk.more?.(state, now + 1) ?? []).map(({ word, event }) =>
      show(event, now + 1, ` (${word})`),
    );
    return [...ordinary, ...early, ...more];
  });
}

function unreached<State extends { readonly phase: string }, Event extends Typed>(
  walk: TableWalk<State, Event>,
  rows: readonly Row[],
): readonly string[] {
  return Object.entries(walk.table).flatMap(([phase, cells]) =>
    Object.entries(cells).flatMap(([type, cell]) => {
      const found = rows.filter((row) => row.from === phase && row.type === type && !row.silent);
      // A cell that may also stay is silent then; it counts as long as it stays.
      const all = rows.filter((row) => row.from === phase && row.type === type);
      return (cell as AnyCell).to
        .filter(
          (to) => !found.some((row) => row.to === to) && !(to === phase && all.some((row) => row.to === to)),
        )
        .map((to) => `${phase} | ${type} -> ${to}`);
    }),
  );
}

function acceptedThoughLate<State extends { readonly phase: string }, Event extends Typed>(
  walk: TableWalk<State, Event>,
): readonly string[] {
  const types = Object.keys(walk.events) as Event['type'][];
  return walk.states.flatMap(({ name, state, now }) =>
    types.flatMap((type) => {
      const event = walk.events[type](state) as Event & { readonly commandId?: unknown };
      if (typeof event.commandId !== 'string') return [];
      const late = { ...event, commandId: `${walk.name}/other#1` };
      const step = walk.machine.step(state, late, now + 1);
      return step.state === state && step.commands.length === 0 ? [] : [`${name} | ${type}`];
    }),
  );
}

function movedTooEarly<State extends { readonly phase: string }, Event extends Typed>(
  walk: TableWalk<State, Event>,
): readonly string[] {
  return walk.states.flatMap(({ name, state }) => {
    const at = walk.machine.deadline(state);
    const make = (walk.events as Record<string, (given: State) => Event>)['deadline'];
    if (at === null || make === undefined) return [];
    const step = walk.machine.step(state, make(state), at - 1);
    return step.state === state ? [] : [name];
  });
}

/** A driver calls `step` again as long as the deadline has passed: an equal one would never let it rest. */
function spinning<State extends { readonly phase: string }, Event extends Typed>(
  walk: TableWalk<State, Event>,
): readonly string[] {
  return walk.states.flatMap(({ name, state }) => {
    const at = walk.machine.deadline(state);
    const make = (walk.events as Record<string, (given: State) => Event>)['deadline'];
    if (at === null || make === undefined) return [];
    const after = walk.machine.step(state, make(state), at).state;
    const next = walk.machine.deadline(after);
    return next !== null && next <= at ? [name] : [];
  });
}

/** What happens, line by line; events that change nothing are gathered in one. */
function print(rows: readonly Row[]): string {
  const names = [...new Set(rows.map(({ name }) => name))];
  const blocks = names.map((name) => {
    const own = rows.filter((row) => row.name === name);
    const lines = own
      .filter((row) => !row.silent)
      .map((row) => `${row.line} -> ${row.to}, ${row.orders.join(' ')}`);
    const silent = own.filter((row) => row.silent).map((row) => row.line.slice(name.length + 3));
    return [...lines, `${name} | silent: ${silent.join(', ')}`].join('\n');
  });
  return `${blocks.join('\n\n')}\n`;
}
