/**
 * One file as far as it can be looked at: text, Markdown, or a picture.
 * Owns the choice. A picture is painted, never loaded by an address, and nothing of a file is run.
 */
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Code } from '../code/code.tsx';
import { languageOf } from '../code/language-of.ts';
import { Markdown } from '../markdown/markdown.tsx';

/** More is to be downloaded. */
const SHOWN_BYTES_MAX = 512 * 1024;
const PICTURE_BYTES_MAX = 8 * 1024 * 1024;
const PICTURE = /\.(?:png|jpe?g|gif|webp|avif|bmp)$/i;

export function FilePreview({ path, bytes }: { readonly path: string; readonly bytes: Blob }): ReactElement {
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
