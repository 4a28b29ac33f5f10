/**
 * A tree of files to choose one from.
 * Owns the folding; names are text, whatever they are made of.
 */
import type { ReactElement, ReactNode } from 'react';
import type { TreeFolder } from './file-tree.ts';

export interface FileTreeListProps {
  readonly tree: TreeFolder;
  readonly chosen: string | null;
  /** What stands behind a name, such as its status. */
  note?(path: string): ReactNode;
  onChoose(path: string): void;
}

/** Folders of more are closed at first. */
const OPEN_FILES_MAX = 40;

export function FileTreeList(props: FileTreeListProps): ReactElement {
  const { tree, chosen, note, onChoose } = props;
  return (
    <ul className="file-tree">
      {tree.folders.map((folder) => (
        <li key={folder.path}>
          <details open={folder.files.length + folder.folders.length <= OPEN_FILES_MAX}>
            <summary>{folder.name}/</summary>
            <FileTreeList {...props} tree={folder} />
          </details>
        </li>
      ))}
      {tree.files.map(({ name, path }) => (
        <li key={path}>
          <button
            type="button"
            className="file-tree-file"
            aria-current={path === chosen ? 'true' : undefined}
            title={path}
            onClick={() => onChoose(path)}
          >
            <span className="file-tree-name">{name}</span>
            {note?.(path)}
          </button>
        </li>
      ))}
    </ul>
  );
}
