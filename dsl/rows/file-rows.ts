/**
 * Files that a pattern of `items` matches as rows: `path`, `name`, `stem` and `text`, all of them text.
 * Owns these fields, and what is said of patterns that match nothing; the walk is the business of find-files.ts.
 */
import { quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import { FILE_GLOB, INTERPOLATION_MARK } from '../schema/text-rule.ts';
import { childOf, itemsOf, textOf, type Tree } from '../read/tree.ts';
import { FILE_PROBLEM_WORDS, type JobWorld } from '../world.ts';
import { unread, type DataFile } from './data-file.ts';
import { ENTRIES_MAX, FILES_MAX, findFiles, missingFolder, type FoundFiles } from './find-files.ts';
import type { Row, RowProblem } from './row.ts';

const COLUMNS = { path: 'string', name: 'string', stem: 'string', text: 'string' } as const;

interface FileRowsContext {
  readonly report: Report;
  readonly world: JobWorld;
}

/** `items` in long form, with a `glob`. */
export function fileRows(items: Tree, { report, world }: FileRowsContext): DataFile {
  const glob = childOf(items, 'glob');
  const file = report.fileAt(0);
  const patterns = itemsOf(glob).map((tree) => textOf(tree) ?? '');
  // What is no list of patterns is a finding of the schema.
  if (glob === undefined || patterns.length === 0) return unread(file);
  if (!patterns.every((pattern) => FILE_GLOB.pattern.test(pattern))) return unread(file);
  if (patterns.some((pattern) => pattern.includes(INTERPOLATION_MARK))) {
    report.add('JOB404', glob.span, 'a pattern of files is not interpolated', {
      remedy: 'an input may stand for a whole pattern, and "where" is a condition on the files',
    });
    return unread(file);
  }
  const list = (folder: string) => world.listFolder?.(folder) ?? ({ problem: 'missing' } as const);
  const found = findFiles(patterns, list);
  if ('problem' in found) {
    addWalkProblem(found, glob, report);
    return unread(file);
  }
  const mayBeEmpty = childOf(items, 'allow_empty');
  if (found.files.length === 0 && !(mayBeEmpty?.kind === 'scalar' && mayBeEmpty.value === true)) {
    const missing = patterns.map((pattern) => missingFolder(pattern, list)).find((one) => one !== null);
    report.add('JOB324', glob.span, `no file matches ${patterns.map(quote).join(' or ')}`, {
      remedy: remedyFor(missing ?? null),
    });
    return unread(file);
  }
  return {
    file,
    spoken: patterns.length === 1 ? quote(patterns[0] ?? '') : '"items"',
    columns: COLUMNS,
    rows: () => rowsOf(found.files, glob, world),
  };
}

function remedyFor(missing: ReturnType<typeof missingFolder>): string {
  if (missing === null)
    return 'patterns are relative to the job file; "allow_empty: true" takes none as well';
  if (missing.near !== null) return `did you mean ${quote(missing.near)}?`;
  return `there is no folder ${quote(missing.path)}: patterns are relative to the job file`;
}

function addWalkProblem(found: Extract<FoundFiles, { problem: string }>, glob: Tree, report: Report): void {
  switch (found.problem) {
    case 'unreadable':
      return report.add('JOB305', glob.span, `the folder ${quote(found.folder)} cannot be read`);
    case 'too_many_files':
      return report.add('JOB311', glob.span, `more than ${FILES_MAX} files match`, {
        remedy: 'write a narrower pattern, or name the files in a data file',
      });
    case 'too_many_entries':
      return report.add(
        'JOB311',
        glob.span,
        `more than ${ENTRIES_MAX} files and folders lie where this looks`,
        { remedy: 'begin the pattern with the folder that is meant' },
      );
  }
}

function* rowsOf(files: readonly string[], glob: Tree, world: JobWorld): Generator<Row | RowProblem> {
  let number = 0;
  for (const path of files) {
    number += 1;
    const read = world.readFile(path);
    if ('problem' in read)
      return yield {
        line: 1,
        message: `the file ${quote(path)} ${PROBLEMS[read.problem]}`,
        remedy: 'each file that a pattern matches is read as text: write a narrower pattern',
        span: glob.span,
      };
    yield { number, line: 1, file: path, fields: { path, ...namesOf(path), text: read.text } };
  }
}

/** A file that is missing was found by its name before. */
const PROBLEMS: typeof FILE_PROBLEM_WORDS = {
  ...FILE_PROBLEM_WORDS,
  missing: 'cannot be opened: its link leads nowhere, access is denied, or its name is not UTF-8',
};

/** `prompts/fix.bug.md` has the stem `fix.bug`; a dot that comes first ends none. */
function namesOf(path: string): { readonly name: string; readonly stem: string } {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return { name, stem: dot > 0 ? name.slice(0, dot) : name };
}
