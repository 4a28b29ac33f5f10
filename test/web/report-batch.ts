/**
 * Made-up reports for a browser: one that people would have, one of any length, one in which every text attacks the page.
 * Owns what is in them.
 */
import type { ReportData, ReportItem } from '../../report/report-data.ts';
import { shownText, charactersShown } from '../../report/shown-text.ts';
import { COMPLETE, reportItem } from '../activities/report-data.ts';
import { HOSTILE } from './hostile-texts.ts';

const { createdAt } = COMPLETE.run;
const MODELS = ['strong', 'fast', 'small'] as const;

const PATCH = `diff --git a/src/parse.ts b/src/parse.ts
index 3f2c1aa..9b0de12 100644
--- a/src/parse.ts
+++ b/src/parse.ts
@@ -10,7 +10,9 @@ export function parse(text: string): Node {
   const tokens = tokenize(text);
-  return build(tokens);
+  if (tokens.length === 0) return EMPTY;
+  const tree = build(tokens);
+  return simplify(tree);
 }
`;
const CHECK = `exit code 1
 RUN  v3.2.4 /workspace

 FAIL  test/parse.test.ts > parse() > reads an empty text
AssertionError: expected undefined to be { kind: 'empty' }
 ❯ test/parse.test.ts:14:23

 Tests  1 failed | 41 passed (42)`;

/** `count` conversations, of which every ninth failed its check, every thirteenth was stuck, and two lost their sandbox. */
export function batchOf(count: number): ReportData {
  const items = Array.from({ length: count }, (_, index) => itemOf(index, count));
  const ended: Record<string, number> = {};
  for (const { row } of items) ended[row?.outcome ?? ''] = (ended[row?.outcome ?? ''] ?? 0) + 1;
  const nanoUsd = items.reduce((sum, { spend }) => sum + spend.nanoUsd, 0);
  const sum = (of: (item: ReportItem) => number): number => items.reduce((all, item) => all + of(item), 0);
  return {
    ...COMPLETE,
    run: { ...COMPLETE.run, total: count, ended, spentNanoUsd: nanoUsd, endedAt: createdAt + 1_600_000 },
    description: 'Moves every package of the workspace to the new parser.',
    last: {
      ...(COMPLETE.last as NonNullable<ReportData['last']>),
      ...{ total: count, succeeded: count - Math.ceil(count / 3), spentNanoUsd: nanoUsd + 31_000_000 },
      durationMs: 1_900_000,
    },
    items,
    spend: {
      ...{ calls: sum(({ spend }) => spend.calls), unpriced: 0, nanoUsd },
      promptTokens: sum(({ spend }) => spend.promptTokens),
      completionTokens: sum(({ spend }) => spend.completionTokens),
    },
    reconciliation: null,
    asksReconciliation: false,
    toleratedFailures: 0,
  };
}

function itemOf(index: number, count: number): ReportItem {
  const max = charactersShown(count);
  const isCheck = index % 9 === 4;
  const isStuck = !isCheck && index % 13 === 6;
  const isLost = index === 11 || index === 29;
  const outcome = isLost || isStuck ? 'failed' : isCheck ? 'check_failed' : 'succeeded';
  const failureClass = isLost ? 'infra' : isStuck ? 'stuck' : null;
  const detail = isLost
    ? 'the sandbox is MISSING: its container is gone'
    : isStuck
      ? 'no_progress'
      : isCheck
        ? 'verify: exit code 1'
        : null;
  const begun = createdAt + (index % 40) * 30_000;
  const answer =
    'The parser now handles an empty text.\n\n- `parse()` answers the empty node\n- two tests are new\n\nAll tests of the package pass.';
  return {
    ...reportItem(
      `packages/${['core', 'cli', 'web'][index % 3] ?? ''}/task-${String(index).padStart(2, '0')}`,
      {
        outcome,
        failureClass,
        detail,
        admittedAt: begun,
        endedAt: begun + 300_000 + ((index * 7) % 50) * 4_000,
      },
      {
        ...{
          calls: 4 + ((index * 5) % 17),
          promptTokens: 12_000 + index * 331,
          completionTokens: 900 + index * 17,
        },
        nanoUsd: 4_000_000 + ((index * 37) % 91) * 1_234_567,
      },
      ['trajectory.zip', 'changes.patch', 'verify.log'],
    ),
    model: MODELS[index % 3] ?? 'strong',
    tags: { team: index % 2 === 0 ? 'red' : 'blue' },
    check: isCheck ? CHECK.split('\n').slice(1) : [],
    prompt: shownText(
      'Move this package to the new parser of `core`.\n\nKeep its tests green, and add one for an empty text.',
      max,
    ),
    answer: isLost ? null : shownText(answer, max),
    patch: isLost ? null : shownText(PATCH.repeat(3), max),
    checkCommand: 'npm test',
    checkOutput: shownText(isCheck ? CHECK : 'exit code 0\n Tests  42 passed (42)', max, 'end'),
  };
}

/** A conversation for each hostile text, which stands wherever a foreign text may stand. */
export function hostileReport(): ReportData {
  const items = HOSTILE.map((text, index): ReportItem => {
    const outcome = (['check_failed', 'failed', 'succeeded'] as const)[index % 3] ?? null;
    return {
      ...reportItem(text, { outcome, detail: text, failureClass: index % 3 === 1 ? 'agent_error' : null }),
      files: [
        { name: text, href: `./${encodeURIComponent(text.slice(0, 50).replaceAll(/[\uD800-\uDFFF]/g, ''))}` },
      ],
      ...{ entry: text, model: text, agent: text, tags: { [text]: text }, matrix: { [text]: text } },
      scores: [{ name: text, value: null, problem: text }],
      findings: [{ code: 'left_out', result: text, says: text }],
      check: [text],
      prompt: { text, cut: 0 },
      answer: { text, cut: 3 },
      patch: { text: `+${text}\n-${text}\n${text}`, cut: 5 },
      checkCommand: text,
      checkOutput: { text, cut: 7 },
      delivery: {
        ...{
          state: 'failed',
          repository: text,
          branch: text,
          commit: text,
          pullRequest: text,
          problem: text,
        },
      },
    };
  });
  const [first = ''] = HOSTILE;
  return {
    ...COMPLETE,
    run: { ...COMPLETE.run, name: first, total: items.length, ended: { succeeded: items.length } },
    description: HOSTILE.join(' '),
    labels: Object.fromEntries(HOSTILE.map((text) => [text, text])),
    items,
  };
}
