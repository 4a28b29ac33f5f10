/**
 * Events and expectations that say one thing each.
 * Owns which keys stand together; must not read the plan.
 */
import { quote } from '../read/quote.ts';
import { addBeside, type Report } from '../check/report.ts';
import { entryOf, type Tree, type TreeEntry } from '../read/tree.ts';
import { keysOf, listAt, placeOf, targetKeys, type ScenarioCheck } from './scenario-check.ts';
import { ACTION_KEYS, EXPECTATION_KEYS } from './scenario-schema.ts';

/** Actions that are about one sandbox or conversation. */
const TARGETED: readonly string[] = ['sandbox', 'conversation', 'message'];

const EVENT_KEYS: readonly string[] = ['at', 'key', 'pick', ...ACTION_KEYS];

export function checkChoices({ root, report }: ScenarioCheck): void {
  for (const event of listAt(root, ['events'])) checkEvent(event, report);
  for (const expectation of listAt(root, ['expect'])) checkExpectation(expectation, report);
}

function checkEvent(event: Tree, report: Report): void {
  if (event.kind !== 'map') return;
  const [first, second] = keysOf(event, ACTION_KEYS);
  if (first === undefined) {
    if (hasUnknown(event, EVENT_KEYS)) return;
    const remedy = `add one of ${ACTION_KEYS.join(', ')}`;
    return report.add('SCN202', placeOf(event), 'this event does nothing', { remedy });
  }
  if (second !== undefined) {
    const message = `this event does two things: ${quote(first.key)} and ${quote(second.key)}`;
    return addBeside(report, 'SCN202', [second, first], message, { remedy: 'write two events' });
  }
  checkTarget(event, first, report);
}

function checkTarget(event: Tree, action: TreeEntry, report: Report): void {
  const targets = [...targetKeys(event), ...keysOf(event, ['pick'])];
  const [first, second] = targets;
  if (!TARGETED.includes(action.key)) {
    if (first === undefined) return;
    const message = `${quote(first.key)} has no use beside ${quote(action.key)}`;
    return report.add('JOB215', first.keySpan, message, { remedy: 'remove the key' });
  }
  if (first === undefined) {
    if (hasUnknown(event, EVENT_KEYS)) return;
    const where = action.key === 'message' ? '"to" inside it' : '"key"';
    return report.add('SCN203', action.keySpan, `this event does not say about which ${noun(action)} it is`, {
      remedy: `add ${where} with a key of the plan, or "pick: oldest", newest, longest_idle or all`,
    });
  }
  if (second === undefined) return;
  const message = `${quote(first.key)} and ${quote(second.key)} both say which`;
  addBeside(report, 'SCN203', [second, first], message);
}

function noun({ key }: TreeEntry): string {
  return key === 'sandbox' ? 'sandbox' : 'conversation';
}

function checkExpectation(expectation: Tree, report: Report): void {
  if (expectation.kind !== 'map') return;
  const [first, second] = keysOf(expectation, EXPECTATION_KEYS);
  const that = entryOf(expectation, 'that');
  if (first === undefined) {
    if (hasUnknown(expectation, ['that', 'within', 'name', 'why', 'level', ...EXPECTATION_KEYS])) return;
    report.add('SCN204', placeOf(expectation), 'this does not say when it must hold', {
      remedy: 'write "always: …", "never: …", "eventually: …", "end: …", or "at: 10m" with "that: …"',
    });
    return;
  }
  if (second !== undefined) {
    const message = `this expects two things: ${quote(first.key)} and ${quote(second.key)}`;
    return addBeside(report, 'SCN204', [second, first], message, { remedy: 'write two expectations' });
  }
  checkCompany(expectation, first, report);
  if (first.key !== 'at' || that !== undefined || hasUnknown(expectation, KNOWN_AT)) return;
  report.add('JOB202', first.keySpan, '"that" is missing in an expectation "at" an instant', {
    remedy: 'write what holds: "that: capacity.in_use <= 20"',
  });
}

const KNOWN_AT = ['at', 'that', 'within', 'name', 'why', 'level'];

/** `that` belongs to `at`, `within` to `at` and `eventually`. */
function checkCompany(expectation: Tree, kind: TreeEntry, report: Report): void {
  const that = entryOf(expectation, 'that');
  if (that !== undefined && kind.key !== 'at') {
    const message = `"that" stands beside ${quote(kind.key)}, which has the expression itself`;
    report.add('JOB215', that.keySpan, message, { remedy: 'remove one of the two' });
  }
  const within = entryOf(expectation, 'within');
  if (within === undefined || kind.key === 'at' || kind.key === 'eventually') return;
  report.add('JOB215', within.keySpan, `"within" has no use beside ${quote(kind.key)}`, {
    remedy: 'remove the key, or write "eventually"',
  });
}

/** An unknown key is probably the one that is missed, and has its own finding. */
function hasUnknown(tree: Tree, known: readonly string[]): boolean {
  return tree.kind === 'map' && tree.entries.some(({ key }) => !known.includes(key));
}
