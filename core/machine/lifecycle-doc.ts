/**
 * docs/lifecycle.md as text, made from the very tables that `step` runs.
 * Owns the layout of the page; must not state a rule that no table holds.
 */
import { CONVERSATION_PHASES } from '../conversation/state.ts';
import { CONVERSATION_TABLE } from '../conversation/table.ts';
import { RUN_PHASES } from '../run/state.ts';
import { RUN_TABLE } from '../run/table.ts';
import { SHARD_PHASES, SHARD_TABLE } from '../shard/table.ts';
import { SANDBOX_PHASES } from '../sandbox/state.ts';
import { SANDBOX_TABLE } from '../sandbox/table.ts';

interface PrintedCell {
  readonly to: readonly string[];
  readonly says: string;
}

interface PrintedMachine {
  readonly title: string;
  readonly intro: string;
  readonly phases: readonly string[];
  readonly table: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const SANDBOX_INTRO = [
  'Several phases share one public status, and a `transition` names what is going on (D8):',
  '`starting` is `STARTING`; `running` is `RUNNING`, or `PAUSED` while agents wait and none works (D6);',
  '`released`, `reserving` and `resuming` are `PAUSED`; the `error…` phases are `ERROR`; `missing` is `MISSING`;',
  '`pausing`, `stopping`, `archiving` and `destroying` keep the status from before.',
].join('\n');

const MACHINES: readonly PrintedMachine[] = [
  {
    title: 'Sandbox',
    intro: SANDBOX_INTRO,
    phases: SANDBOX_PHASES,
    table: SANDBOX_TABLE,
  },
  {
    title: 'Conversation',
    intro:
      'The phases between `placing` and `active` are the statuses of the start task (D18); `active` is `READY`, `startFailed` is `ERROR`.',
    phases: CONVERSATION_PHASES,
    table: CONVERSATION_TABLE,
  },
  {
    title: 'Run',
    intro:
      'A run is `running` while any of its items is not at its end; an item has a life of its own inside that phase.',
    phases: RUN_PHASES,
    table: RUN_TABLE,
  },
  {
    title: 'Shard',
    intro:
      'A run of more than 500 items gives them to shards: the run decides who begins and what is retried, and a shard leads its items to their end.',
    phases: SHARD_PHASES,
    table: SHARD_TABLE,
  },
];

/** The whole page. The same tables give the same text, byte for byte. */
export function lifecyclePage(): string {
  const opening = [
    '# Lifecycle',
    '',
    'This page is for whoever wants to know what an event does to a sandbox, a conversation or a run.',
    'It is generated from the transition tables in `core/`: `npm run gen` writes it, a test compares it.',
    '',
    'An event that has no line in a phase changes nothing there: it is late, repeated, or cannot happen.',
    'An answer counts only if the command it answers is the one awaited.',
  ];
  return `${[...opening, ...MACHINES.flatMap(section)].join('\n')}\n`;
}

function section(machine: PrintedMachine): readonly string[] {
  const phases = machine.phases.flatMap((phase) => phaseSection(machine, phase));
  return ['', `## ${machine.title}`, '', machine.intro, '', ...diagram(machine), ...phases];
}

function cellsOf(machine: PrintedMachine, phase: string): readonly (readonly [string, PrintedCell])[] {
  return Object.entries(machine.table[phase] ?? {}) as unknown as readonly (readonly [string, PrintedCell])[];
}

function phaseSection(machine: PrintedMachine, phase: string): readonly string[] {
  const cells = cellsOf(machine, phase);
  const heading = ['', `### ${machine.title}: ${phase}`, ''];
  if (cells.length === 0) return [...heading, 'The end: no event changes anything.'];
  const rows = cells.map(([event, { says, to }]) => [
    `\`${event}\``,
    says,
    to.map((next) => (next === phase ? 'stays' : `\`${next}\``)).join(', '),
  ]);
  return [...heading, ...aligned([['event', 'what happens', 'to'], ...rows])];
}

/** A table in the layout that the formatter keeps. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)];
}

/** Who follows whom, without the events. */
function diagram(machine: PrintedMachine): readonly string[] {
  const edges = machine.phases.flatMap((phase) => {
    const next = new Set(cellsOf(machine, phase).flatMap(([, { to }]) => to));
    return machine.phases.filter((to) => to !== phase && next.has(to)).map((to) => `    ${phase} --> ${to}`);
  });
  return ['```mermaid', 'stateDiagram-v2', `    [*] --> ${machine.phases[0] ?? ''}`, ...edges, '```'];
}
