/**
 * What there is to see of the work of one item: its prompt, what its agent said last, what its check printed, what it changed.
 * Owns the asking, and what can be asked of one item: a run that was cancelled takes none up again.
 */
import { useCallback, type ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Code } from '../code/code.tsx';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { Problems } from '../components/notice.tsx';
import { usePolled } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { useSession } from '../session/session.ts';
import { useControl } from './run-controls.tsx';
import type { RunItem, RunRecord } from './run-types.ts';

/** Files of the results change when an attempt ends. */
const EVERY_MS = 10_000;

export interface ItemEvidenceProps {
  readonly run: RunRecord;
  readonly item: RunItem;
  onChange(): void;
}

export function ItemEvidence({ run, item, onChange }: ItemEvidenceProps): ReactElement {
  const { client } = useSession();
  const { id: runId } = run;
  const { key } = item;
  const ask = useCallback(
    (signal: AbortSignal) =>
      client.getRunItemEvidence({ params: { run_id: runId }, query: { item: key } }, { signal }),
    [client, runId, key],
  );
  const { value, problem } = usePolled(ask, EVERY_MS);
  return (
    <section className="evidence" aria-label={`Work of ${key}`}>
      <ItemActions run={run} item={item} onChange={onChange} />
      {value === null ? (
        <Empty isLoading={problem === null} problem={problem}>
          <p>Nothing is known of this item.</p>
        </Empty>
      ) : (
        <Parts of={value} />
      )}
    </section>
  );
}

function ItemActions({ run, item, onChange }: ItemEvidenceProps): ReactElement {
  const { ask, isBusy, problems } = useControl(run.id, onChange);
  const { key, outcome, conversation_id: conversationId } = item;
  return (
    <div className="work-actions">
      {conversationId === null ? null : (
        <Link to={{ page: 'conversation', id: conversationId }} className="button">
          Transcript
        </Link>
      )}
      {outcome === null ? (
        <Button
          kind="danger"
          busy={isBusy}
          onClick={() => void ask({ type: 'cancelRequested', keys: [key] })}
        >
          Cancel item
        </Button>
      ) : null}
      {outcome === null || run.mode === 'cancelling' ? null : (
        <Button busy={isBusy} onClick={() => void ask({ type: 'requeueRequested', keys: [key] })}>
          Requeue item
        </Button>
      )}
      <Problems of={problems} />
    </div>
  );
}

function Parts({ of }: { readonly of: ResultOf<'get_run_item_evidence'> }): ReactElement {
  return (
    <>
      <Part title="Prompt" text={of.prompt} language="" none="The plan has this item no more." />
      <Part
        title="Answer"
        text={of.answer?.text ?? null}
        isCut={of.answer?.is_cut ?? false}
        language=""
        none="The agent has said nothing that is kept."
      />
      {of.check_command === null ? null : (
        <Part title="Check" text={of.check_command} language="bash" none="" />
      )}
      <Part
        title="Output of the check"
        text={of.check_output?.text ?? null}
        isCut={of.check_output?.is_cut ?? false}
        language=""
        none="No check has run."
      />
      <Part
        title="Changes"
        text={of.patch?.text ?? null}
        isCut={of.patch?.is_cut ?? false}
        language="diff"
        none="No changes were collected."
      />
    </>
  );
}

interface PartProps {
  readonly title: string;
  /** Null when there is none. */
  readonly text: string | null;
  readonly isCut?: boolean;
  readonly language: string;
  readonly none: string;
}

function Part({ title, text, isCut = false, language, none }: PartProps): ReactElement {
  return (
    <div>
      <h3>{title}</h3>
      {text === null ? (
        <p className="quiet">{none}</p>
      ) : (
        <div className="evidence-text" tabIndex={0} role="region" aria-label={title}>
          <Code text={text} language={language} />
        </div>
      )}
      {isCut ? (
        <p className="hint">This is its beginning; the whole is among the results of the run.</p>
      ) : null}
    </div>
  );
}
