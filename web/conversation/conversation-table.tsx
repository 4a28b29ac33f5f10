/**
 * Conversations as a table.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Badge, Dash, Tags, When } from '../components/parts.tsx';
import { type Column, figures, head, text } from '../components/table.tsx';
import { selected, type Selection } from '../lists/selection.tsx';
import { wordSort } from '../lists/word-sort.ts';
import { Link } from '../routing/link.tsx';
import { usd } from '../text/money.ts';
import { tagsOf } from '../text/tags.ts';

export type ConversationRecord = ResultOf<'search_app_conversations'>['items'][number];

/** What every view of one conversation gets; conversation-views.tsx loads the views. */
export interface ViewProps {
  readonly id: string;
}

/** What every part gets by which the conversation can be changed. */
export interface ChangingProps {
  readonly record: ConversationRecord;
  onChange(): void;
}

const SHOWN: readonly Column<ConversationRecord>[] = [
  text('Agent', (row) => {
    const agent = row.start_task_status === 'READY' ? row.execution_status : row.start_task_status;
    return agent === null ? <Dash /> : <Badge word={agent} />;
  }),
  text('Sandbox', (row) => (
    <>
      <Badge word={row.sandbox_status} note={row.transition ?? row.pause_reason} />
      {row.sandbox_id === null ? null : <code className="below">{row.sandbox_id.slice(0, 8)}</code>}
    </>
  )),
  text('Model', (row) => row.llm_model ?? <span className="quiet">default</span>),
  figures('Spend', ({ metrics }) => (metrics === null ? '—' : usd(metrics.accumulated_cost))),
];

/** `sort` is a word of the API. */
export function conversationColumns(
  selection: Selection,
  sort: string,
  onSort: (sort: string) => void,
): readonly Column<ConversationRecord>[] {
  const title = head('Title', (row: ConversationRecord) => (
    <>
      <Link to={{ page: 'conversation', id: row.id }}>{row.title}</Link>
      <Below row={row} />
    </>
  ));
  const time = (name: string, by: 'updated_at' | 'created_at'): Column<ConversationRecord> => ({
    ...text(name, (row) => <When at={row[by]} />),
    sort: wordSort(sort, by.toUpperCase(), onSort),
  });
  return [
    selected(selection, (row) => row.title),
    { ...title, sort: wordSort(sort, 'TITLE', onSort) },
    ...SHOWN,
    time('Updated', 'updated_at'),
    time('Created', 'created_at'),
  ];
}

function Below({ row }: { readonly row: ConversationRecord }): ReactElement | null {
  const tags = tagsOf(row.tags);
  const { selected_repository: repository, selected_branch: branch } = row;
  if (repository === null && tags.length === 0) return null;
  return (
    <div className="below">
      {repository === null ? null : <span>{branch === null ? repository : `${repository} @ ${branch}`}</span>}
      <Tags of={tags} />
    </div>
  );
}
