/**
 * The footnote of a report: every part of its money in nano-dollars, and that the parts are the total.
 * Pure: data in, blocks out; amounts are reckoned anew from the parts, and nothing is rounded.
 */
import type { ReconciliationDone } from '../core/reconcile/reconciliation-record.ts';
import { addSums, type UsdSum } from '../core/money/usd-sum.ts';
import { outcomeLabel } from '../core/run/outcome-words.ts';
import { left, right, table, text, type Block, type Section } from './document.ts';
import { sourceWords } from './money-section.ts';
import type { ReportData } from './report-data.ts';
import { sumVerdict, type Verdict } from './report-verdict.ts';
import { nanoWords } from './report-words.ts';

/** What our proxy counted by outcome, and what was billed by how it was joined. */
export function sumSection(data: ReportData): Section {
  const { reconciliation } = data;
  return {
    title: 'To the nano-dollar',
    blocks: [
      text('Amounts above are rounded; these are exact. A dollar has 1,000,000,000 nano-dollars.'),
      ...spentBlocks(data),
      ...(reconciliation?.kind === 'done' ? billedBlocks(reconciliation) : []),
    ],
  };
}

function spentBlocks(data: ReportData): readonly Block[] {
  const parts = new Map<string, UsdSum>();
  for (const { row, spend } of data.items) {
    const name = outcomeLabel(row);
    parts.set(name, addSums(parts.get(name) ?? 0, spend.nanoUsd));
  }
  const { words, tone } = spentVerdict([...parts.values()], data.spend.nanoUsd);
  return [
    ...sumTable([...parts], ['counted by our proxy for these conversations', data.spend.nanoUsd]),
    text(`${words}.`, tone),
  ];
}

function spentVerdict(parts: readonly UsdSum[], total: UsdSum): Verdict {
  const off = BigInt(total) - BigInt(addSums(...parts));
  if (off === 0n)
    return {
      words: 'It adds up: the outcomes sum to what our proxy counted, to the nano-dollar',
      tone: 'good',
    };
  return {
    words: `It does not add up: ${nanoWords(off.toString())} nano-dollars are between the outcomes and what our proxy counted`,
    tone: 'bad',
  };
}

function billedBlocks(done: ReconciliationDone): readonly Block[] {
  const { total, assigned, ambiguous, unassigned } = done.result;
  const verdict = sumVerdict(done);
  return [
    ...sumTable(
      [
        ['assigned to conversations', assigned],
        ['ambiguous: several conversations could have caused it', ambiguous],
        ['unassigned: no conversation of this run', unassigned],
      ],
      [`total of ${sourceWords(done.source)}`, total],
    ),
    text(`${verdict.words}.`, verdict.tone),
  ];
}

type Amount = readonly [name: string, nano: UsdSum];

/** The total below its parts, as on paper. */
function sumTable(parts: readonly Amount[], total: Amount): readonly Block[] {
  return table(
    [left('part'), right('nano-dollars')],
    [...parts.map(([name, nano]) => [`+ ${name}`, nanoWords(nano)]), [`= ${total[0]}`, nanoWords(total[1])]],
  );
}
