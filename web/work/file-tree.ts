/**
 * Paths as a tree of folders.
 * Owns the order, folders first, and that a folder of one folder is one line; pure.
 */
export interface TreeFolder {
  /** With those that have nothing else in them: `src/main`. */
  readonly name: string;
  readonly path: string;
  readonly folders: readonly TreeFolder[];
  readonly files: readonly TreeFile[];
}

export interface TreeFile {
  readonly name: string;
  readonly path: string;
}

interface Growing {
  readonly folders: Map<string, Growing>;
  readonly files: string[];
}

export function treeOf(paths: readonly string[]): TreeFolder {
  const root: Growing = { folders: new Map(), files: [] };
  for (const path of paths) {
    const parts = path.split('/');
    const name = parts.pop() ?? path;
    let folder = root;
    for (const part of parts) {
      const next = folder.folders.get(part) ?? { folders: new Map(), files: [] };
      folder.folders.set(part, next);
      folder = next;
    }
    folder.files.push(name);
  }
  return grown(root, '', '');
}

function grown({ folders, files }: Growing, name: string, path: string): TreeFolder {
  const below = [...folders].sort(([one], [other]) => (one < other ? -1 : 1));
  const [only] = below;
  if (name !== '' && files.length === 0 && below.length === 1 && only !== undefined)
    return grown(only[1], `${name}/${only[0]}`, `${path}/${only[0]}`);
  return {
    name,
    path,
    folders: below.map(([part, folder]) => grown(folder, part, joined(path, part))),
    files: [...files].sort().map((file) => ({ name: file, path: joined(path, file) })),
  };
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}
