/**
 * Terminal output as elements.
 * Owns the looks of each run; what a sandbox wrote is text and colours, and nothing else of it is obeyed.
 */
import { type CSSProperties, type ReactElement, useMemo } from 'react';
import { type Colour, type Run, runsOf, type Style } from './ansi.ts';

export function TerminalOutput({ text }: { readonly text: string }): ReactElement {
  const runs = useMemo(() => runsOf(text), [text]);
  return <pre className="terminal">{runs.map(drawn)}</pre>;
}

function drawn({ text, style }: Run, at: number): ReactElement | string {
  const { className, exact } = looksOf(style);
  if (className === '' && exact === undefined) return text;
  return (
    <span key={at} className={className} style={exact}>
      {text}
    </span>
  );
}

function looksOf(style: Style): { readonly className: string; readonly exact: CSSProperties | undefined } {
  const [colour, ground] = style.isInverse ? [style.ground, style.colour] : [style.colour, style.ground];
  const names = [
    typeof colour === 'number' ? `ansi-${colour}` : '',
    typeof ground === 'number' ? `ansi-on-${ground}` : '',
    style.isInverse && colour === null ? 'ansi-inverse' : '',
    style.isBold ? 'ansi-bold' : '',
    style.isFaint ? 'ansi-faint' : '',
    style.isItalic ? 'ansi-italic' : '',
    style.isUnderlined ? 'ansi-underlined' : '',
  ];
  return { className: names.filter((name) => name !== '').join(' '), exact: exactOf(colour, ground) };
}

/** An exact colour is made of numbers alone. A ground without a colour is left out: text on it might be unreadable. */
function exactOf(colour: Colour | null, ground: Colour | null): CSSProperties | undefined {
  const color = typeof colour === 'string' ? colour : undefined;
  const backgroundColor = typeof ground === 'string' && colour !== null ? ground : undefined;
  if (color === undefined && backgroundColor === undefined) return undefined;
  return {
    ...(color === undefined ? {} : { color }),
    ...(backgroundColor === undefined ? {} : { backgroundColor }),
  };
}

/** Output of a command that still runs, so far. It is not read aloud at each line: the result is, as a whole. */
export function GrowingOutput({ text }: { readonly text: string }): ReactElement {
  return (
    <div className="outcome outcome-growing" aria-live="off" role="group" aria-label="Output so far">
      <TerminalOutput text={text} />
    </div>
  );
}
