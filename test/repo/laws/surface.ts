/**
 * What a user can type, ask for or set, as lists, read off a tree: commands, flags, routes, variables, and the keys of
 * each schema.
 * Owns how each list is read; must not know which tree is newer.
 */
import { fileAt, isCode, topFolder, type RepoFile, type Tree } from '../tree.ts';
import { cliCommands, cliFlags, routesOf } from './documented.ts';

export type Surface = Readonly<Record<SurfaceList, ReadonlySet<string>>>;
export type SurfaceList = 'commands' | 'flags' | 'routes' | 'variables' | 'keys';

const SCHEMAS = ['schema/job.v1.json', 'schema/scenario.v1.json', 'schema/deployment.v1.json'];
const SERVERS = ['api', 'proxy', 'agent', 'web', 'scripted-gateway'];

export function surfaceOf(tree: Tree): Surface {
  const code = tree.filter(({ path }) => isCode(path) && topFolder(path) !== 'test');
  const cli = code.filter(({ path }) => topFolder(path) === 'cli');
  const servers = code.filter(({ path }) => SERVERS.includes(topFolder(path)));
  return {
    commands: new Set(cli.flatMap((file) => cliCommands(file)).map(({ text }) => text)),
    flags: new Set(cli.flatMap((file) => cliFlags(file)).map(({ text }) => text)),
    routes: new Set(servers.flatMap(routesIn).map(anonymous)),
    variables: new Set(code.flatMap(({ text }) => text.match(/\b(?:PARLEY|OH)_[A-Z0-9_]*[A-Z0-9]\b/g) ?? [])),
    keys: new Set(SCHEMAS.flatMap((name) => keysOfSchema(fileAt(tree, name)?.text ?? '{}'))),
  };
}

/** Entries of each list that `before` has and `after` has not: "flags: --json". */
export function lostFrom(before: Surface, after: Surface): readonly string[] {
  const lists = Object.keys(before) as SurfaceList[];
  return lists.flatMap((list) =>
    [...before[list]].filter((one) => !after[list].has(one)).map((one) => `${list}: ${one}`),
  );
}

/** Registered by a call, or a key of a table of handlers. */
function routesIn(file: RepoFile): readonly string[] {
  const keys = [...file.text.matchAll(/^\s*'(\/[^'\s]+)':/gm)].map((match) => match[1] ?? '');
  return [...routesOf(file).map(({ text }) => text), ...keys];
}

function anonymous(route: string): string {
  return route.replaceAll(/\{[^}/\s]+\}|:[A-Za-z_]+/g, '{}');
}

/** Names of properties anywhere in a JSON schema. */
function keysOfSchema(text: string): readonly string[] {
  const keys = new Set<string>();
  const read = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'properties' && typeof inner === 'object')
        for (const key of Object.keys(inner as object)) keys.add(key);
      read(inner);
    }
  };
  read(JSON.parse(text));
  return [...keys];
}
