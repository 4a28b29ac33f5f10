/**
 * Terminal output as elements.
 * Owns the looks of each run; what a sandbox wrote is text and colours, and nothing else of it is obeyed.
 */
import { type CSSProperties, type ReactElement, useMemo } from 'react';
import { type Colour, type Run, runsOf } from './ansi.ts';

export function TerminalOutput({ text }: { readonly text: string }): ReactElement {
  const runs = useMemo(() => runsOf(text), [text]);
  return <pre className="terminal">{runs.map(drawn)}</pre>;
}

function drawn({ text, style }: Run, at: number): ReactElement | string {
  const [colour, ground] = style.isInverse ? [style.ground, style.colour] : [style.colour, style.ground];
  const names = [
    style.isInverse && colour === null ? 'ansi-inverse' : '',
    style.isBold ? 'ansi-bold' : '',
    style.isFaint ? 'ansi-faint' : '',
    style.isItalic ? 'ansi-italic' : '',
    style.isUnderlined ? 'ansi-underlined' : '',
  ].filter((name) => name !== '');
  if (names.length === 0 && colour === null && ground === null) return text;
  const isPlain = colour === null || (typeof colour === 'number' && style.isFaint);
  return (
    <span
      key={at}
      className={names.join(' ')}
      style={{ ...(isPlain ? {} : { color: named(colour) }), ...groundOf(ground, colour !== null) }}
    >
      {text}
    </span>
  );
}

/** A colour of the theme. An exact one is made of numbers alone. */
function named(colour: Colour): string {
  return typeof colour === 'number' ? `var(--ansi-${colour % 8})` : colour;
}

/**
 * A ground of the theme is a line of that colour: text on it keeps its contrast. An exact one without a colour is left
 * out: text on it might be unreadable.
 */
function groundOf(ground: Colour | null, hasColour: boolean): CSSProperties {
  if (typeof ground === 'string') return hasColour ? { backgroundColor: ground } : {};
  if (ground === null) return {};
  return { boxShadow: `inset 0 -2px ${ground % 8 === 0 ? 'var(--text)' : named(ground)}` };
}

/** Output of a command that still runs, so far. It is not read aloud at each line: the result is, as a whole. */
export function GrowingOutput({ text }: { readonly text: string }): ReactElement {
  return (
    <div className="outcome outcome-growing" aria-live="off" role="group" aria-label="Output so far">
      <TerminalOutput text={text} />
    </div>
  );
}
