/**
 * docs/lifecycle.md as text: every cell of every transition table, in words.
 * Owns the page's layout; what happens, and its words, are the tables'.
 */
import { CONVERSATION_TABLE } from '../core/conversation/table.ts';
import { RUN_TABLE } from '../core/run/table.ts';
import { SANDBOX_TABLE } from '../core/sandbox/table.ts';

/** What the page needs of a table, whatever its context and events are. */
type Words = Readonly<Record<string, Readonly<Record<string, CellWords>>>>;
interface CellWords {
  readonly to: readonly string[];
  readonly says: string;
}

const INTRODUCTION = `# Lifecycle

These are the transition tables that the engine runs, written by \`npm run gen\`.
An event without a row in a phase changes nothing there: late, repeated and out-of-order events are ordinary.
*To* lists the other phases in which the entity may be afterwards; where it is empty, the phase stays.
`;

/** The whole page, with a final line break. */
export function lifecyclePage(): string {
  const sections = [
    section('Sandbox', SANDBOX_TABLE),
    section('Conversation', CONVERSATION_TABLE),
    section('Run', RUN_TABLE),
  ];
  return [INTRODUCTION, ...sections].join('\n');
}

function section(name: string, table: Words): string {
  const phases = Object.entries(table).map(([phase, row]) => phaseTable(phase, row));
  return [`## ${name}`, '', ...phases].join('\n');
}

function phaseTable(phase: string, row: Readonly<Record<string, CellWords>>): string {
  const cells = Object.entries(row);
  if (cells.length === 0) return `### ${phase}\n\nFinal: no event changes anything.\n`;
  const lines = cells.map(([event, cell]) => {
    const to = cell.to.filter((target) => target !== phase).map((target) => `\`${target}\``);
    return `| \`${event}\` | ${to.join(', ')} | ${cell.says.replaceAll('|', '\\|')} |`;
  });
  return [`### ${phase}`, '', '| event | to | what happens |', '| --- | --- | --- |', ...lines, ''].join(
    '\n',
  );
}
