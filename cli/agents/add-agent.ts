/**
 * Installing an agent for the sandboxes of the process runtime: from npm or from a folder, aside, tried, and then in one step.
 * Owns the order, and that what is installed is read-only; the layout is in installed-agents.ts.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { CliError } from '../../host/cli-error.ts';
import { EXIT } from '../../host/exit-code.ts';
import { askAgent } from './ask-agent.ts';
import {
  agentFolder,
  agentsFolder,
  noteFile,
  type InstalledAgent,
} from '../../host/sandboxes/installed-agents.ts';

export interface AddAgent {
  readonly dataDir: string;
  readonly name: string;
  /** Program, and its arguments when it is tried. */
  readonly command: readonly [string, ...string[]];
  readonly from:
    | {
        readonly kind: 'npm';
        readonly package: string;
        /** A version or a tag. */
        readonly version: string;
        readonly withScripts: boolean;
      }
    | { readonly kind: 'folder'; readonly folder: string };
  /** False: it is not tested whether it speaks the protocol. */
  readonly isTried: boolean;
  say(text: string): void;
}

/** @throws CliError */
export async function addAgent(order: AddAgent): Promise<InstalledAgent> {
  const { dataDir, name, command, from } = order;
  mkdirSync(agentsFolder(dataDir), { recursive: true });
  const aside = mkdtempSync(path.join(agentsFolder(dataDir), '.new-'));
  try {
    const fetched = from.kind === 'npm' ? fromNpm(order, from, aside) : fromFolder(order, from.folder, aside);
    const file = path.join(aside, 'bin', command[0]);
    const said = order.isTried ? await askAgent({ file, args: command.slice(1) }) : null;
    const version = fetched.version ?? said;
    if (version === null)
      throw new CliError(
        `Cannot install "${name}": neither its folder nor the program says which version it is`,
        {
          remedy: 'put a package.json with a version into the folder',
        },
      );
    const mark = createHash('sha256').update(fetched.integrity).digest('hex').slice(0, 12);
    const directory = `${version.replaceAll(/[^A-Za-z0-9._+-]/g, '-')}-${mark}`;
    const { source, integrity } = fetched;
    settle(aside, { writable: false });
    put(order, { aside, directory });
    const note = { name, command: command[0], version, source, integrity, directory };
    writeNote(noteFile(dataDir, name), note);
    return { ...note, folder: path.join(agentFolder(dataDir, name), directory) };
  } finally {
    removeTree(aside);
  }
}

/** All versions of it; false when there is none. Sandboxes that run it lose it. */
export function removeAgent(dataDir: string, name: string): boolean {
  const isThere = existsSync(agentFolder(dataDir, name));
  // First the note: a process that reads meanwhile finds no agent.
  rmSync(noteFile(dataDir, name), { force: true });
  removeTree(agentFolder(dataDir, name));
  return isThere;
}

interface Fetched {
  /** Null: the program reports it. */
  readonly version: string | null;
  readonly source: string;
  readonly integrity: string;
}

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({ version: z.string().optional(), integrity: z.string().optional() }),
  ),
});
const packageSchema = z.looseObject({
  version: z.string().optional(),
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});

/** An agent of 200 MB over a slow line. */
const NPM_MS_MAX = 30 * 60_000;
const NPM_SAID_CHARS = 1_000;

function fromNpm(
  { name, command: [command], say }: AddAgent,
  from: Extract<AddAgent['from'], { readonly kind: 'npm' }>,
  aside: string,
): Fetched {
  const spec = `${from.package}@${from.version}`;
  say(`installing ${spec} with npm`);
  writeFileSync(path.join(aside, 'package.json'), '{ "private": true }\n');
  const scripts = from.withScripts ? [] : ['--ignore-scripts'];
  const args = ['install', '--no-audit', '--no-fund', '--no-update-notifier', ...scripts, spec];
  const { status, error, stderr } = spawnSync('npm', args, {
    cwd: aside,
    encoding: 'utf8',
    timeout: NPM_MS_MAX,
  });
  if (error !== undefined || status !== 0)
    throw new CliError(
      `Cannot install ${spec}: ${(error?.message ?? stderr.trim()).slice(0, NPM_SAID_CHARS)}`,
      {
        remedy:
          'look whether npm works here and has this version, or bring the agent in a folder: --from DIR',
        exitCode: EXIT.unreachable,
      },
    );
  const lock = lockSchema.parse(JSON.parse(readFileSync(path.join(aside, 'package-lock.json'), 'utf8')));
  const { version, integrity } = lock.packages[`node_modules/${from.package}`] ?? {};
  if (version === undefined || integrity === undefined)
    throw new CliError(`Cannot install ${spec}: npm says neither version nor integrity of it`);
  offer(aside, command, programOf(aside, from.package, command) ?? noProgram(name, command, spec));
  return { version, source: `npm:${from.package}`, integrity };
}

/**
 * Relative to `aside`. Some packages have their program in a package for each platform, which an install script would put
 * in place: that program is taken as it is, and what is for other processors is left out.
 */
function programOf(aside: string, name: string, command: string): string | null {
  const own = path.join('node_modules', name);
  const { bin, optionalDependencies } = packageSchema.parse(
    JSON.parse(readFileSync(path.join(aside, own, 'package.json'), 'utf8')),
  );
  const inPlatform = Object.keys(optionalDependencies)
    .map((platform) => ({ platform, file: path.join('node_modules', platform, 'bin', command) }))
    .filter(({ file }) => existsSync(path.join(aside, file)))
    // The one for older processors runs on every one.
    .sort((a, b) => Number(b.platform.includes('baseline')) - Number(a.platform.includes('baseline')));
  const [chosen, ...others] = inPlatform;
  for (const { platform } of others) rmSync(path.join(aside, 'node_modules', platform), { recursive: true });
  if (chosen !== undefined) return chosen.file;
  const file = typeof bin === 'string' ? bin : bin?.[command];
  return file === undefined ? null : path.join(own, file);
}

function fromFolder({ name, command: [command] }: AddAgent, folder: string, aside: string): Fetched {
  if (!existsSync(folder) || !lstatSync(folder).isDirectory())
    throw new CliError(`Cannot install "${name}": "${folder}" is no folder`);
  cpSync(folder, aside, { recursive: true, verbatimSymlinks: true });
  const places = [path.join('bin', command), path.join('node_modules', '.bin', command), command];
  const found = places.find((place) => existsSync(path.join(aside, place)));
  if (found === undefined) noProgram(name, command, folder);
  else if (found !== places[0]) offer(aside, command, found);
  const file = path.join(aside, 'package.json');
  const version = existsSync(file)
    ? packageSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).version
    : undefined;
  return { version: version ?? null, source: `folder:${folder}`, integrity: `sha256-${hashOf(aside)}` };
}

function noProgram(name: string, command: string, where: string): never {
  throw new CliError(`Cannot install "${name}": ${where} has no program "${command}"`, {
    remedy: 'name it with --command',
  });
}

/** A relative link, so that it holds wherever the folder is mounted. */
function offer(aside: string, command: string, program: string): void {
  const bin = path.join(aside, 'bin');
  mkdirSync(bin, { recursive: true });
  chmodSync(path.join(aside, program), 0o755);
  symlinkSync(path.join('..', program), path.join(bin, command));
}

/** Over paths, contents and links, in the order of their names. */
function hashOf(folder: string): string {
  const sum = createHash('sha256');
  const visit = (below: string): void => {
    for (const entry of readdirSync(path.join(folder, below), { withFileTypes: true }).sort(byName)) {
      const at = path.join(below, entry.name);
      if (entry.isDirectory()) visit(at);
      else {
        sum.update(`${at}\0`);
        sum.update(
          entry.isSymbolicLink() ? readlinkSync(path.join(folder, at)) : readFileSync(path.join(folder, at)),
        );
        sum.update('\0');
      }
    }
  };
  visit('');
  return sum.digest('base64');
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/** Readable by every sandbox, whatever user it runs as, and writable by none. */
function settle(folder: string, { writable }: { readonly writable: boolean }): void {
  // From the outside in when it becomes writable, and back when it does not: a folder must be open to be read.
  if (writable) chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) settle(file, { writable });
    else if (entry.isFile()) chmodSync(file, (lstatSync(file).mode & 0o111) === 0 ? 0o444 : 0o555);
  }
  if (!writable) chmodSync(folder, 0o555);
}

function put(
  { dataDir, name }: AddAgent,
  { aside, directory }: { readonly aside: string; readonly directory: string },
): void {
  const target = path.join(agentFolder(dataDir, name), directory);
  mkdirSync(path.dirname(target), { recursive: true });
  // The same files are there already, and a sandbox may have them open.
  if (existsSync(target)) return;
  // Only root can rename a folder that cannot be written.
  chmodSync(aside, 0o755);
  renameSync(aside, target);
  chmodSync(target, 0o555);
}

function writeNote(file: string, note: object): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(note, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

function removeTree(folder: string): void {
  if (!existsSync(folder)) return;
  settle(folder, { writable: true });
  rmSync(folder, { recursive: true, force: true });
}
