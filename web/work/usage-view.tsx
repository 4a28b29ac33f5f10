/**
 * What a conversation has used, by model.
 * Owns the table; reading it needs no sandbox.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Loaded } from '../components/parts.tsx';
import { type Column, figures, head, Table } from '../components/table.tsx';
import type { ViewProps } from '../conversation/conversation-table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { CALLS, COST, INPUT, OUTPUT } from '../overview/call-columns.tsx';

const EVERY_MS = 5_000;

const COLUMNS: readonly Column<ResultOf<'get_conversation_usage'>['models'][number]>[] = [
  head('Model', ({ model }) => model),
  ...[CALLS, INPUT],
  figures('From cache', ({ cached_tokens: tokens }) => tokens.toLocaleString()),
  ...[OUTPUT, COST],
];

export function UsageView({ id }: ViewProps): ReactElement {
  const usage = useAnswer('getConversationUsage', { params: { conversation_id: id } }, EVERY_MS);
  return (
    <Loaded
      of={usage}
      isEmpty={({ models }) => models.length === 0}
      none={<p>The agent has called no model yet.</p>}
    >
      {({ models }) => (
        <section aria-label="Usage by model">
          <Table label="Table" columns={COLUMNS} rows={models} keyOf={({ model }) => model} />
        </section>
      )}
    </Loaded>
  );
}
