/**
 * What there is to see of the work of one item: its prompt, what its agent said last, what its check printed, what it changed.
 * Owns the asking, and what can be asked of one item: a run that was cancelled takes none up again.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Code } from '../code/code.tsx';
import { Button } from '../components/form.tsx';
import { Loaded, Problems } from '../components/parts.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { useControl } from './run-controls.tsx';
import type { RunItem, RunRecord } from './run-phase.ts';

/** Files of the results change when an attempt ends. */
const EVERY_MS = 10_000;

interface ItemEvidenceProps {
  readonly run: RunRecord;
  readonly item: RunItem;
  onChange(): void;
}

export function ItemEvidence({ run, item, onChange }: ItemEvidenceProps): ReactElement {
  const input = { params: { run_id: run.id }, query: { item: item.key } };
  return (
    <section className="evidence" aria-label={`Work of ${item.key}`}>
      <ItemActions run={run} item={item} onChange={onChange} />
      <Loaded of={useAnswer('getRunItemEvidence', input, EVERY_MS)}>{(of) => <Parts of={of} />}</Loaded>
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
      <Part title="Prompt" of={whole(of.prompt)} none="The plan has this item no more." />
      <Part title="Answer" of={of.answer} none="The agent has said nothing that is kept." />
      {of.check_command === null ? null : (
        <Part title="Check" of={whole(of.check_command)} language="bash" none="" />
      )}
      <Part title="Output of the check" of={of.check_output} none="No check has run." />
      <Part title="Changes" of={of.patch} language="diff" none="No changes were collected." />
    </>
  );
}

type Evidence = ResultOf<'get_run_item_evidence'>['patch'];

function whole(text: string | null): Evidence {
  return text === null ? null : { text, is_cut: false };
}

interface PartProps {
  readonly title: string;
  readonly of: Evidence;
  readonly language?: string;
  readonly none: string;
}

function Part({ title, of, language = '', none }: PartProps): ReactElement {
  return (
    <div>
      <h3>{title}</h3>
      {of === null ? (
        <p className="quiet">{none}</p>
      ) : (
        <div className="evidence-text" tabIndex={0} role="region" aria-label={title}>
          <Code text={of.text} language={language} />
        </div>
      )}
      {of?.is_cut === true ? (
        <p className="hint">This is its beginning; the whole is among the results of the run.</p>
      ) : null}
    </div>
  );
}
