/**
 * The files of a workspace: a tree, and one of them as it is.
 * Owns the choice, the preview and the download.
 */
import { type ReactElement, useCallback, useMemo, useState, useEffect, useRef } from 'react';
import { Code } from '../code/code.tsx';
import { languageOf } from '../code/language-of.ts';
import { Button } from '../components/form.tsx';
import { Empty, Loaded, Problems } from '../components/parts.tsx';
import type { ViewProps } from '../conversation/conversation-table.tsx';
import { saveFile } from '../conversation/save-file.ts';
import { useAction } from '../data/use-action.ts';
import { useAnswer, usePolled } from '../data/use-polled.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { useSession } from '../session/session.ts';
import { FileTreeList } from './file-tree-list.tsx';
import { treeOf } from './file-tree.ts';

/** Each look keeps the sandbox awake and lists every file. */
const EVERY_MS = 15_000;
/** So many are listed by the API. */
const LISTED_MAX = 10_000;

export function FilesView({ id }: ViewProps): ReactElement {
  const [chosen, setChosen] = useState<string | null>(null);
  const [wanted, setWanted] = useState('');
  const files = useAnswer('listWorkspaceFiles', { params: { conversation_id: id }, query: {} }, EVERY_MS);
  const { value } = files;
  const found = useMemo(
    () => (value ?? []).filter((path) => path.toLowerCase().includes(wanted.toLowerCase())),
    [value, wanted],
  );
  const tree = useMemo(() => treeOf(found), [found]);
  return (
    <Loaded of={files} isEmpty={({ length }) => length === 0} none={<p>The workspace has no file.</p>}>
      {({ length }) => (
        <div className="work">
          <section className="card work-tree" aria-label="Files">
            <input
              type="search"
              aria-label="Path contains"
              placeholder="Search paths"
              value={wanted}
              onChange={(event) => setWanted(event.target.value)}
            />
            {length < LISTED_MAX ? null : <p className="hint">Only the first {LISTED_MAX} are listed.</p>}
            {found.length === 0 ? <p className="quiet">No path holds this text.</p> : null}
            <FileTreeList tree={tree} chosen={chosen} onChoose={setChosen} />
          </section>
          <section className="card work-shown" aria-label="File">
            {chosen === null ? (
              <p className="empty quiet">Choose a file.</p>
            ) : (
              <OneFile id={id} path={chosen} />
            )}
          </section>
        </div>
      )}
    </Loaded>
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
        <Empty isKnown={false} problem={problem} />
      ) : (
        <FilePreview path={path} bytes={value.bytes} />
      )}
    </>
  );
}

/** More is to be downloaded. */
const SHOWN_BYTES_MAX = 512 * 1024;
const PICTURE_BYTES_MAX = 8 * 1024 * 1024;
const PICTURE = /\.(?:png|jpe?g|gif|webp|avif|bmp)$/i;

/** One file as far as it can be looked at: text, Markdown, or a picture. */
function FilePreview({ path, bytes }: { readonly path: string; readonly bytes: Blob }): ReactElement {
  if (bytes.size === 0) return <p className="empty quiet">The file is empty.</p>;
  if (PICTURE.test(path) && bytes.size <= PICTURE_BYTES_MAX) return <Picture path={path} bytes={bytes} />;
  if (bytes.size > SHOWN_BYTES_MAX)
    return <p className="empty quiet">It has {bytes.size.toLocaleString()} bytes: download it.</p>;
  return <TextFile path={path} bytes={bytes} />;
}

function TextFile({ path, bytes }: { readonly path: string; readonly bytes: Blob }): ReactElement {
  const [text, setText] = useState<string | null | undefined>(undefined);
  const [isRaw, setIsRaw] = useState(false);
  useEffect(() => {
    let isLeft = false;
    void textOf(bytes).then((read) => {
      if (!isLeft) setText(read);
    });
    return () => {
      isLeft = true;
    };
  }, [bytes]);
  if (text === undefined) return <p className="empty quiet">Loading …</p>;
  if (text === null) return <p className="empty quiet">It is no text: download it.</p>;
  const language = languageOf(path);
  if (language !== 'markdown') return <Code text={text} language={language} />;
  return (
    <>
      <div className="work-actions">
        <Button kind="quiet" aria-pressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
          As it is written
        </Button>
      </div>
      {isRaw ? <Code text={text} language={language} /> : <Markdown text={text} />}
    </>
  );
}

/** Null for what is no text. */
async function textOf(bytes: Blob): Promise<string | null> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await bytes.arrayBuffer());
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** The policy of the page lets no picture be loaded but its own: the browser decodes it, and it is painted. */
function Picture({ path, bytes }: { readonly path: string; readonly bytes: Blob }): ReactElement {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [problem, setProblem] = useState(false);
  useEffect(() => {
    let isLeft = false;
    const paint = async (): Promise<void> => {
      const picture = await createImageBitmap(bytes);
      const { current } = canvas;
      if (isLeft || current === null) return;
      current.width = picture.width;
      current.height = picture.height;
      current.getContext('2d')?.drawImage(picture, 0, 0);
      picture.close();
    };
    setProblem(false);
    paint().catch(() => {
      if (!isLeft) setProblem(true);
    });
    return () => {
      isLeft = true;
    };
  }, [bytes]);
  if (problem) return <p className="empty quiet">The picture cannot be read: download it.</p>;
  return <canvas ref={canvas} className="picture" role="img" aria-label={path} />;
}
