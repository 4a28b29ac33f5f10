/**
 * What the agent has changed, against the commit where its work began.
 * Owns the choice of file and form; the comparison is drawn by its own part.
 */
import { type ReactElement, useCallback, useMemo, useState } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Button } from '../components/form.tsx';
import { Empty, Loaded } from '../components/parts.tsx';
import type { ViewProps } from '../conversation/conversation-table.tsx';
import { useAnswer, usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import { labelOf } from '../text/words.ts';
import { Comparison, type ComparisonLook } from './comparison.tsx';
import { FileTreeList } from './file-tree-list.tsx';
import { treeOf } from './file-tree.ts';

type Change = ResultOf<'list_git_changes'>[number];

/** Polling keeps a sandbox awake, and each poll runs Git: not as often as a record is read. */
const EVERY_MS = 10_000;
/** More on one side is to be downloaded. */
const COMPARED_CHARS_MAX = 400_000;

export function ChangesView({ id }: ViewProps): ReactElement {
  const [chosen, setChosen] = useState<string | null>(null);
  const [look, setLook] = useState<ComparisonLook>('unified');
  const changes = useAnswer('listGitChanges', { params: { conversation_id: id }, query: {} }, EVERY_MS);
  const { value, again } = changes;
  const tree = useMemo(() => treeOf((value ?? []).map(({ path }) => path)), [value]);
  const statusOf = useMemo(() => new Map((value ?? []).map(({ path, status }) => [path, status])), [value]);
  const path = chosen !== null && statusOf.has(chosen) ? chosen : (value?.[0]?.path ?? '');
  return (
    <Loaded
      of={changes}
      isEmpty={({ length }) => length === 0}
      none={<p>Nothing differs from the commit where the work began.</p>}
    >
      {(seen) => (
        <div className="work">
          <section className="card work-tree" aria-label="Changed files">
            <FileTreeList
              tree={tree}
              chosen={path}
              onChoose={setChosen}
              note={(file) => <Status of={statusOf.get(file)} />}
            />
          </section>
          <section className="card work-shown" aria-label="Difference">
            <div className="work-head">
              <code className="wrap">{path}</code>
              <div className="work-actions">
                <Button kind="quiet" aria-pressed={look === 'unified'} onClick={() => setLook('unified')}>
                  Unified
                </Button>
                <Button kind="quiet" aria-pressed={look === 'split'} onClick={() => setLook('split')}>
                  Split
                </Button>
                <Button kind="quiet" onClick={again}>
                  Look again
                </Button>
              </div>
            </div>
            <OneFile id={id} path={path} look={look} seen={seen} />
          </section>
        </div>
      )}
    </Loaded>
  );
}

function Status({ of }: { readonly of: Change['status'] | undefined }): ReactElement | null {
  return of === undefined ? null : <span className={`tag change-${of.toLowerCase()}`}>{labelOf(of)}</span>;
}

interface OneFileProps {
  readonly id: string;
  readonly path: string;
  readonly look: ComparisonLook;
  /** With another list the file is read again, too. */
  readonly seen: readonly Change[];
}

function OneFile({ id, path, look, seen }: OneFileProps): ReactElement {
  const { client } = useSession();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const params = { conversation_id: id };
      return { path, seen, diff: await client.readGitDiff({ params, query: { path } }, { signal }) };
    },
    [client, id, path, seen],
  );
  const { value, problem } = usePolled(ask, null);
  if (value === null || value.path !== path) return <Empty isKnown={false} problem={problem} />;
  const { original, modified } = value.diff;
  const [before, after] = [original ?? '', modified ?? ''];
  if (before.includes('\0') || after.includes('\0')) return <p className="empty quiet">It is no text.</p>;
  if (before.length > COMPARED_CHARS_MAX || after.length > COMPARED_CHARS_MAX)
    return <p className="empty quiet">It is too long to be compared here.</p>;
  return (
    <>
      {original === null && modified === null ? <p className="empty quiet">It is no text.</p> : null}
      <div className="scroll">
        <Comparison before={before} after={after} path={path} look={look} />
      </div>
    </>
  );
}
