/**
 * The record of a conversation beside its transcript.
 * Owns which facts are shown and in which order.
 */
import { type ReactElement, type ReactNode, useCallback } from 'react';
import { Badge, Tags, When } from '../components/parts.tsx';
import { usePolled, useAnswer } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { useSession } from '../session/session.ts';
import { usd } from '../text/money.ts';
import { tagsOf } from '../text/tags.ts';
import { labelOf } from '../text/words.ts';
import type { ConversationRecord } from './conversation-table.tsx';

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
            <Tags of={tagsOf(tags)} />
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

interface PlacementFactProps {
  readonly id: string;
  readonly sandboxId: string;
}

/** Why a conversation is in its sandbox, requested once for each sandbox; nothing where there is no decision. */
function PlacementFact({ id, sandboxId }: PlacementFactProps): ReactElement | null {
  const { client } = useSession();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const placement = await client.getPlacement({ params: { conversation_id: id } }, { signal });
      return { sandboxId, placement };
    },
    [client, id, sandboxId],
  );
  const placement = usePolled(ask, null).value?.placement ?? null;
  if (placement === null) return null;
  const { summary, seen } = placement;
  if (seen.length === 0) return <span className="below">{summary}</span>;
  return (
    <details className="seen">
      <summary>{summary}</summary>
      <ul>
        {seen.map(({ sandbox_id: one, why }) => (
          <li key={one}>
            <code>{one.slice(0, 8)}</code> {labelOf(why)}
          </li>
        ))}
      </ul>
    </details>
  );
}

const STEPS = [
  'WORKING',
  'WAITING_FOR_SANDBOX',
  'PREPARING_REPOSITORY',
  'RUNNING_SETUP_SCRIPT',
  'SETTING_UP_GIT_HOOKS',
  'SETTING_UP_SKILLS',
  'STARTING_CONVERSATION',
  'READY',
] as const;

/**
 * How far a start is: its steps, the one that it is at, its place in the queue, and why it has failed.
 * Owns the order of the steps (D18), and the request for the place in the queue.
 */
function StartSteps({ record }: { readonly record: ConversationRecord }): ReactElement {
  const { start_task_status: status, start_task_detail: detail } = record;
  if (status === 'ERROR') return <span className="below">{detail ?? 'no reason was given'}</span>;
  const at = STEPS.findIndex((step) => step === status);
  return (
    <>
      {status === 'WORKING' ? <StartPosition id={record.id} /> : null}
      <ol className="start-steps" aria-label="Steps of the start">
        {STEPS.map((step, index) => (
          <li
            key={step}
            className={index < at ? 'step-done' : ''}
            aria-current={index === at ? 'step' : undefined}
          >
            {labelOf(step)}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Nothing where it does not wait. */
function StartPosition({ id }: { readonly id: string }): ReactElement | null {
  const query = { conversation_id__eq: id, limit: 1 };
  const position = useAnswer('searchStartTasks', { query }).value?.items[0]?.queue_position ?? null;
  return position === null ? null : (
    <span className="below">waits for a sandbox, number {position} in the queue</span>
  );
}
