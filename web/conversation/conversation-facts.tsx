/**
 * The record of a conversation beside its transcript.
 * Owns which facts are shown and in which order.
 */
import type { ReactElement, ReactNode } from 'react';
import { Badge } from '../components/badge.tsx';
import { When } from '../components/when.tsx';
import { Link } from '../routing/link.tsx';
import { usd } from '../text/money.ts';
import type { ConversationRecord } from './conversation-table.tsx';
import { PlacementFact } from './placement-fact.tsx';
import { StartSteps } from '../start/start-steps.tsx';

export function ConversationFacts({ record }: { readonly record: ConversationRecord }): ReactElement {
  const { metrics, tags } = record;
  const usage = metrics?.accumulated_token_usage ?? null;
  return (
    <aside className="facts card" aria-label="Facts">
      <dl>
        <Fact name="Agent">
          {record.execution_status === null ? '—' : <Badge word={record.execution_status} />}
        </Fact>
        <Fact name="Start">
          <Badge word={record.start_task_status} />
          {record.start_task_status === 'READY' ? null : <StartSteps record={record} />}
        </Fact>
        <Fact name="Sandbox">
          <Badge word={record.sandbox_status} note={record.transition ?? record.pause_reason} />
          {record.sandbox_id === null ? null : (
            <Link to={{ page: 'sandboxes' }}>
              <code>{record.sandbox_id.slice(0, 8)}</code>
            </Link>
          )}
          {record.sandbox_id === null ? null : <PlacementFact id={record.id} sandboxId={record.sandbox_id} />}
        </Fact>
        <Fact name="Model">{record.llm_model ?? 'default'}</Fact>
        <Fact name="Spend">
          <strong>{metrics === null ? '$0.00' : usd(metrics.accumulated_cost)}</strong>
        </Fact>
        {usage === null ? null : (
          <Fact name="Tokens">
            {usage.prompt_tokens.toLocaleString()} in · {usage.completion_tokens.toLocaleString()} out
          </Fact>
        )}
        {record.selected_repository === null ? null : (
          <Fact name="Repository">
            {record.selected_repository}
            {record.selected_branch === null ? '' : ` @ ${record.selected_branch}`}
          </Fact>
        )}
        {record.run_id === null ? null : (
          <Fact name="Run">
            <Link to={{ page: 'run', id: record.run_id }}>{record.run_id}</Link>
            {record.run_item === null ? null : <span className="below">item {record.run_item}</span>}
          </Fact>
        )}
        <Fact name="Queued messages">{record.queued_messages}</Fact>
        <Fact name="Created">
          <When at={record.created_at} />
        </Fact>
        {Object.keys(tags).length === 0 ? null : (
          <Fact name="Tags">
            {Object.entries(tags).map(([key, value]) => (
              <span key={key} className="tag">
                {key}={value}
              </span>
            ))}
          </Fact>
        )}
        <Fact name="Id">
          <code className="wrap">{record.id}</code>
        </Fact>
      </dl>
    </aside>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactElement {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
