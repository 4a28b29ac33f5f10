/**
 * Two texts beside or below each other, with what differs.
 * Owns the appearance; a stretch that is the same is left out until the user opens it.
 */
import { type ReactElement, useMemo, useState } from 'react';
import { compare, type DiffRow, type LeftOut } from './diff-rows.ts';

export type ComparisonLook = 'split' | 'unified';

export interface ComparisonProps {
  readonly before: string;
  readonly after: string;
  readonly path: string;
  readonly look: ComparisonLook;
}

export function Comparison({ before, after, path, look }: ComparisonProps): ReactElement {
  const { parts, added, removed } = useMemo(() => compare(before, after), [before, after]);
  return (
    <table className={`diff diff-${look}`} aria-label={`Changes of ${path}`}>
      <caption>
        <span className="diff-added">+{added}</span> <span className="diff-removed">−{removed}</span>
      </caption>
      <thead className="hidden">
        <tr>
          {(look === 'split' ? SPLIT : UNIFIED).map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {parts.map((part, at) =>
          part.kind === 'left-out' ? (
            <LeftOutRows key={at} part={part} look={look} />
          ) : (
            <Row key={at} row={part} look={look} />
          ),
        )}
      </tbody>
    </table>
  );
}

const SPLIT = ['Old line', 'Old text', 'New line', 'New text'] as const;
const UNIFIED = ['Old line', 'New line', 'Text'] as const;

function LeftOutRows({
  part,
  look,
}: {
  readonly part: LeftOut;
  readonly look: ComparisonLook;
}): ReactElement {
  const [isOpen, setIsOpen] = useState(false);
  if (isOpen)
    return (
      <>
        {part.rows.map((row, at) => (
          <Row key={at} row={row} look={look} />
        ))}
      </>
    );
  return (
    <tr className="diff-left-out">
      <td colSpan={look === 'split' ? 4 : 3}>
        <button type="button" tabIndex={-1} onClick={() => setIsOpen(true)}>
          {part.rows.length} lines are the same
        </button>
      </td>
    </tr>
  );
}

function Row({ row, look }: { readonly row: DiffRow; readonly look: ComparisonLook }): ReactElement {
  if (look === 'split') return <SplitRow row={row} />;
  if (row.kind !== 'changed') return <UnifiedRow row={row} side={row.kind === 'removed' ? 'old' : 'new'} />;
  return (
    <>
      <UnifiedRow row={row} side="old" />
      <UnifiedRow row={row} side="new" />
    </>
  );
}

function SplitRow({ row }: { readonly row: DiffRow }): ReactElement {
  const { kind, oldLine, newLine, oldText, newText } = row;
  const isOld = kind === 'removed' || kind === 'changed';
  const isNew = kind === 'added' || kind === 'changed';
  return (
    <tr>
      <td className="diff-line">{oldLine}</td>
      <td className={isOld ? 'diff-removed' : ''}>
        <Sign is={isOld ? 'removed' : null} />
        {oldText}
      </td>
      <td className="diff-line">{newLine}</td>
      <td className={isNew ? 'diff-added' : ''}>
        <Sign is={isNew ? 'added' : null} />
        {newText}
      </td>
    </tr>
  );
}

function UnifiedRow({ row, side }: { readonly row: DiffRow; readonly side: 'old' | 'new' }): ReactElement {
  const { kind, oldLine, newLine, oldText, newText } = row;
  const is = kind === 'same' ? null : side === 'old' ? 'removed' : 'added';
  return (
    <tr className={is === null ? '' : `diff-${is}`}>
      <td className="diff-line">{is === 'added' ? null : oldLine}</td>
      <td className="diff-line">{is === 'removed' ? null : newLine}</td>
      <td>
        <Sign is={is} />
        {side === 'old' ? oldText : newText}
      </td>
    </tr>
  );
}

/** What colour says, a sign says too. */
function Sign({ is }: { readonly is: 'removed' | 'added' | null }): ReactElement {
  const sign = is === null ? ' ' : is === 'added' ? '+' : '−';
  return <span className="diff-sign">{sign}</span>;
}
