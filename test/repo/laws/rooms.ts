/**
 * Rooms: no word missing where others read, no crowd of files in one flat folder, and no file so small that it could be part of its one importer.
 * Owns the exceptions, each with its reason.
 */
import { bareExports, houseOf } from '../house.ts';
import { importGraph, namesAskedFor } from '../syntax.ts';
import { isProduct, topFolder, type Tree, type Violation } from '../tree.ts';
import { FILE_LINES_MAX, lineCount } from './sizes.ts';

/** Folders and beginnings of names: each file is one member of one list, and its size says nothing. */
const LISTS: Readonly<Record<string, string>> = {
  'activities/': 'a file for each command',
  'agent/tools/': 'a file for each tool',
  'cli/commands/': 'a file for each command of the program',
  'cli/doctor/': 'a file for each part that is looked at',
  'dsl/plan/build-': 'a file for each block of a job',
  'dsl/scenario/build-': 'a file for each block of a scenario',
  'dsl/schema/': 'a file for each block of a job',
  'host/preflight/check-': 'a file for each thing that is looked at',
  'ports/': 'a file for each port',
};
const ALONE: Readonly<Record<string, string>> = {
  'web/session/key-memory.ts': 'the one place where a key may be kept, as another law says',
  'runtimes/process/inside/agent-role.ts': 'the second of two processes that one program is',
};

export function rooms(tree: Tree): readonly Violation[] {
  const house = houseOf(tree);
  const crowds = Object.entries(house.crowded)
    .filter(([folder]) => LISTS[`${folder}/`] === undefined)
    .map(([folder, count]) => `${folder}/: ${count} files in one flat folder; find the nouns among them`);
  const files = new Map(tree.map((file) => [file.path, file]));
  const tested = new Set(
    [
      ...importGraph(
        tree,
        tree.filter((file) => topFolder(file.path) === 'test'),
      ).values(),
    ].flat(),
  );
  const linesOf = (name: string): number => {
    const file = files.get(name);
    return file === undefined ? 0 : lineCount(file);
  };
  const parts = Object.entries(house.single).filter(
    ([name, importer]) =>
      ALONE[name] === undefined &&
      !Object.keys(LISTS).some((list) => name.startsWith(list)) &&
      !tested.has(name) &&
      linesOf(name) + linesOf(importer) <= FILE_LINES_MAX,
  );
  return [
    ...crowds,
    ...parts.map(
      ([name, importer]) => `${name}: only ${importer} imports it, no test does; make it a part of that`,
    ),
  ];
}

/** What users of the packages read, and authors of a port: every export. Of the others what another room imports. */
const PUBLIC = /^(ports|api\/client|testing\/(?!temporal\/))/;

export function publicExportsDocumented(tree: Tree): readonly Violation[] {
  const files = tree.filter(({ path }) => isProduct(path) && /\.tsx?$/.test(path));
  const asked = namesAskedFor(files);
  return files.flatMap((file) =>
    bareExports(file, PUBLIC.test(file.path) ? 'all' : asked.get(file.path)).map(
      (line) => `${file.path}:${line}: an export that others read has no comment above it`,
    ),
  );
}
