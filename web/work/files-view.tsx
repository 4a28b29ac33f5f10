/**
 * The files of a workspace: a tree, and one of them as it is.
 * Owns the choice, the preview and the download.
 */
import { useCallback, useMemo, useState, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { Notice, Problems } from '../components/notice.tsx';
import type { ViewProps } from '../conversation/view-props.ts';
import { saveFile } from '../conversation/save-file.ts';
import { useAction } from '../data/use-action.ts';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import { Awake } from './awake.tsx';
import { FilePreview } from './file-preview.tsx';
import { FileTreeList } from './file-tree-list.tsx';
import { treeOf } from './file-tree.ts';

/** Each look keeps the sandbox awake and lists every file. */
const EVERY_MS = 15_000;
/** So many are listed by the API. */
const LISTED_MAX = 10_000;

export function FilesView({ record }: ViewProps): ReactElement {
  return (
    <Awake record={record}>
      <Files id={record.id} />
    </Awake>
  );
}

function Files({ id }: { readonly id: string }): ReactElement {
  const { client } = useSession();
  const [chosen, setChosen] = useState<string | null>(null);
  const [wanted, setWanted] = useState('');
  const ask = useCallback(
    (signal: AbortSignal) =>
      client.listWorkspaceFiles({ params: { conversation_id: id }, query: {} }, { signal }),
    [client, id],
  );
  const { value, problem } = usePolled(ask, EVERY_MS);
  const found = useMemo(
    () => (value ?? []).filter((path) => path.toLowerCase().includes(wanted.toLowerCase())),
    [value, wanted],
  );
  const tree = useMemo(() => treeOf(found), [found]);
  if (value === null || value.length === 0)
    return (
      <Empty isLoading={value === null} isKnown={value !== null} problem={problem}>
        <p>The workspace has no file.</p>
      </Empty>
    );
  return (
    <div className="work">
      {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
      <section className="card work-tree" aria-label="Files">
        <input
          type="search"
          aria-label="Path contains"
          placeholder="Search paths"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
        {value.length < LISTED_MAX ? null : <p className="hint">Only the first {LISTED_MAX} are listed.</p>}
        {found.length === 0 ? <p className="quiet">No path holds this text.</p> : null}
        <FileTreeList tree={tree} chosen={chosen} onChoose={setChosen} />
      </section>
      <section className="card work-shown" aria-label="File">
        {chosen === null ? <p className="empty quiet">Choose a file.</p> : <OneFile id={id} path={chosen} />}
      </section>
    </div>
  );
}

function OneFile({ id, path }: { readonly id: string; readonly path: string }): ReactElement {
  const { client } = useSession();
  const action = useAction();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const input = { params: { conversation_id: id }, query: { file_path: path } };
      const answer = await client.downloadWorkspaceFile(input, { signal });
      return { path, bytes: await answer.blob() };
    },
    [client, id, path],
  );
  const { value, problem } = usePolled(ask, null);
  const download = (): void => {
    void action.run(async () => {
      const input = { params: { conversation_id: id }, query: { file_path: path } };
      await saveFile(await client.downloadWorkspaceFile(input), path.slice(path.lastIndexOf('/') + 1));
    });
  };
  return (
    <>
      <div className="work-head">
        <code className="wrap">{path}</code>
        <Button kind="quiet" busy={action.isBusy} onClick={download}>
          Download file
        </Button>
      </div>
      <Problems of={action.problems} />
      {value === null || value.path !== path ? (
        <Empty isLoading={problem === null} problem={problem}>
          {null}
        </Empty>
      ) : (
        <FilePreview path={path} bytes={value.bytes} />
      )}
    </>
  );
}
