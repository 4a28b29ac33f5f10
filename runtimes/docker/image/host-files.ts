/**
 * The files of this host that make an image: programs, the libraries they load, and what they read.
 * Owns finding them, each with the links that lead to it. Reads only, and follows nothing out of the lists.
 */
import { execFile } from 'node:child_process';
import { lstatSync, readlinkSync, readdirSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  FURTHER_TREES,
  HOST_PROGRAMS,
  HOST_SEARCH_PATH,
  LEFT_OUT,
  TREES_OF_PROGRAMS,
} from './host-programs.ts';

const run = promisify(execFile);
/** Calls of programs of this host; each answers in far less, but on a machine that is all at work. */
const ASK_TIMEOUT_MS = 300_000;
const ASK_OUTPUT_BYTES_MAX = 64 * 1024 ** 2;
/** Symbolic links in a row; the system takes no more either. */
const LINKS_MAX = 40;
const ELF_NAME = /\.so(\.\d+)*$|\/[^/.]+$/;
const ROOT_LINKS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

/** Path in the image → path on the host; directories follow from the paths. */
export type FileSet = Map<string, string>;

/** The programs of the list that this host has, as absolute paths. */
export function foundPrograms(): readonly string[] {
  return HOST_PROGRAMS.flatMap((name) => {
    const dir = HOST_SEARCH_PATH.find((one) => statOf(join(one, name))?.isFile() === true);
    return dir === undefined ? [] : [join(dir, name)];
  });
}

/** Everything those programs need. @throws Error a tool that reports it does not work */
export async function collectFiles(programs: readonly string[]): Promise<FileSet> {
  const files: FileSet = new Map();
  for (const name of ROOT_LINKS) addRootLink(files, `/${name}`);
  for (const program of programs) addFile(files, program);
  for (const tree of [...(await treesOf(programs)), ...FURTHER_TREES]) addTree(files, tree);
  const loaded = [...files.values()].filter((path) => ELF_NAME.test(path) && isRegular(path));
  for (const library of await librariesOf([...loaded, process.execPath])) addFile(files, library);
  return files;
}

/** Where everything lies that Node.js's own installer brings, beside the program itself. */
export function npmOf(node: string): string | null {
  const prefix = dirname(dirname(realpathSync(node)));
  const found = ['lib/node_modules/npm', 'share/nodejs/npm'].map((part) => join(prefix, part));
  return found.find((path) => statOf(path)?.isDirectory() === true) ?? null;
}

async function treesOf(programs: readonly string[]): Promise<readonly string[]> {
  const trees: string[] = [];
  for (const program of programs) {
    const question = TREES_OF_PROGRAMS[basename(program)];
    if (question !== undefined) trees.push(...(await linesOf(program, question)));
  }
  return trees.filter((path) => path.startsWith('/'));
}

/** Only for programs that this host trusts already: the loader itself reports what they load. */
async function librariesOf(paths: readonly string[]): Promise<readonly string[]> {
  const lines = await linesOf('ldd', paths);
  const found = lines.flatMap((line) => /(?:=> |^\s+)(\/[^\s:]+) \(0x/.exec(line)?.[1] ?? []);
  return [...new Set(found)];
}

/**
 * What is no program makes `ldd` end with an error; what it printed of the others counts all the same. Half an answer
 * does not: an image without the libraries that were still to come would be kept for good.
 */
async function linesOf(program: string, args: readonly string[]): Promise<readonly string[]> {
  const options = {
    timeout: ASK_TIMEOUT_MS,
    maxBuffer: ASK_OUTPUT_BYTES_MAX,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  };
  const { stdout } = await run(program, args, options).catch((error: AskError) => {
    if (error.killed === true) throw new Error(`"${program}" did not answer within ${ASK_TIMEOUT_MS} ms`);
    return { stdout: error.stdout ?? '' };
  });
  return stdout.split('\n').filter((line) => line !== '');
}

interface AskError {
  readonly stdout?: string;
  /** It was ended here: time ran out, or it said more than is taken. */
  readonly killed?: boolean;
}

/** On most systems the old directories are links; elsewhere they come with the files in them. */
function addRootLink(files: FileSet, path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) files.set(path, path);
}

/** A file under its real directory, with every link on the way to it. */
function addFile(files: FileSet, path: string): void {
  let next = path;
  for (let count = 0; count < LINKS_MAX; count += 1) {
    const place = realPlace(next);
    if (place === null || files.has(place)) return;
    files.set(place, place);
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
    next = resolve(dirname(place), readlinkSync(place));
  }
}

function addTree(files: FileSet, root: string): void {
  const stat = statOf(root);
  if (stat === null) return;
  if (!stat.isDirectory()) {
    addFile(files, root);
    return;
  }
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    if (LEFT_OUT.test(path)) continue;
    if (entry.isDirectory()) addTree(files, path);
    else if (statOf(path)?.isFile() === true) addFile(files, path);
  }
}

/** The path with its directory resolved; null when there is no such thing. */
function realPlace(path: string): string | null {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return null;
  }
}

function isRegular(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Links followed; null when it leads nowhere. */
function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}
