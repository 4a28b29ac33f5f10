/**
 * A piece of code.
 * Owns that it is there at once, and in colours a moment later, when what knows its language has been loaded.
 */
import { type ReactElement, useEffect, useState } from 'react';
import type { CodeRun } from './highlight.ts';

/** More than this is shown plainly: finding its words would hold the page up. */
const HIGHLIGHTED_CHARS_MAX = 20_000;

export interface CodeProps {
  readonly text: string;
  /** A name of the language or the end of a file's name; empty when unknown. */
  readonly language: string;
}

export function Code({ text, language }: CodeProps): ReactElement {
  return (
    <pre className="code-block">
      <CodeText text={text} language={language} />
    </pre>
  );
}

/** Without a frame of its own, for a line of something larger. */
export function CodeText({ text, language }: CodeProps): ReactElement {
  const runs = useHighlighted(text, language);
  if (runs === null) return <code>{text}</code>;
  return (
    <code>
      {runs.map(({ text: part, role }, at) =>
        role === '' ? (
          part
        ) : (
          <span key={at} className={`code-${role}`}>
            {part}
          </span>
        ),
      )}
    </code>
  );
}

interface Highlighted {
  readonly of: string;
  readonly runs: readonly CodeRun[] | null;
}

function useHighlighted(text: string, language: string): readonly CodeRun[] | null {
  const [done, setDone] = useState<Highlighted>({ of: '', runs: null });
  const isWanted = language !== '' && text.length <= HIGHLIGHTED_CHARS_MAX;
  useEffect(() => {
    if (!isWanted) return;
    let isLeft = false;
    const load = async (): Promise<void> => {
      const { highlighted } = await import('./highlight.ts');
      if (!isLeft) setDone({ of: text, runs: highlighted(text, language) });
    };
    // Without it the code stays plain, and is all there.
    load().catch(() => undefined);
    return () => {
      isLeft = true;
    };
  }, [isWanted, text, language]);
  return isWanted && done.of === text ? done.runs : null;
}
