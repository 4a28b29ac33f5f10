/**
 * What is done to several rows at once: asked before where it destroys, and said of each row how it went.
 * Owns the order of the calls, a few at a time; a row that was refused does not keep the others.
 */
import { type ReactElement, useState } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { Button } from '../components/form.tsx';
import { sentenceOf } from '../data/problem.ts';
import type { Selection } from './selection.tsx';

export interface BulkRow {
  readonly id: string;
  readonly name: string;
}

export interface BulkAction<Row extends BulkRow> {
  readonly name: string;
  /** What it means; asked before it is done. Absent where nothing is lost. */
  readonly warning?: string;
  /** Why it cannot be done to this row; null where it can. */
  refusal(row: Row): string | null;
  run(row: Row): Promise<unknown>;
}

export interface BulkBarProps<Row extends BulkRow> {
  /** All of the page. */
  readonly rows: readonly Row[];
  readonly selection: Selection;
  readonly actions: readonly BulkAction<Row>[];
  onDone(): void;
}

interface Outcome extends BulkRow {
  /** Null: it went well. */
  readonly problem: string | null;
}

interface Done {
  readonly action: string;
  readonly outcomes: readonly Outcome[];
}

const AT_ONCE = 4;

export function BulkBar<Row extends BulkRow>(props: BulkBarProps<Row>): ReactElement | null {
  const { rows, selection, actions, onDone } = props;
  const [asked, setAsked] = useState<BulkAction<Row> | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [done, setDone] = useState<Done | null>(null);
  const chosen = rows.filter(({ id }) => selection.has(id));
  const carryOut = async (action: BulkAction<Row>): Promise<void> => {
    setAsked(null);
    setIsBusy(true);
    const outcomes = await forEachRow(chosen, action);
    const well = outcomes.filter(({ problem }) => problem === null);
    selection.set(
      well.map(({ id }) => id),
      false,
    );
    setDone({ action: action.name, outcomes });
    setIsBusy(false);
    onDone();
  };
  const ids = rows.map(({ id }) => id);
  if (rows.length === 0 && done === null) return null;
  return (
    <section className="bulk" aria-label="Selected rows">
      <label className="inline">
        <input
          type="checkbox"
          checked={chosen.length > 0 && chosen.length === rows.length}
          onChange={({ target }) => selection.set(ids, target.checked)}
        />
        All of this page
      </label>
      <span className="quiet" role="status">
        {chosen.length} selected
      </span>
      {actions.map((action) => (
        <Button
          key={action.name}
          kind={action.warning === undefined ? 'plain' : 'danger'}
          disabled={chosen.length === 0}
          busy={isBusy}
          onClick={() => (action.warning === undefined ? void carryOut(action) : setAsked(action))}
        >
          {action.name} selected
        </Button>
      ))}
      {done === null ? null : <Outcomes done={done} onLeave={() => setDone(null)} />}
      {asked === null ? null : (
        <Question
          action={asked}
          chosen={chosen}
          onLeave={() => setAsked(null)}
          onYes={() => void carryOut(asked)}
        />
      )}
    </section>
  );
}

async function forEachRow<Row extends BulkRow>(
  rows: readonly Row[],
  action: BulkAction<Row>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const some = rows.slice(at, at + AT_ONCE).map(async (row): Promise<Outcome> => {
      const { id, name } = row;
      const refusal = action.refusal(row);
      if (refusal !== null) return { id, name, problem: refusal };
      try {
        await action.run(row);
        return { id, name, problem: null };
      } catch (error) {
        return { id, name, problem: sentenceOf(error) };
      }
    });
    outcomes.push(...(await Promise.all(some)));
  }
  return outcomes;
}

function Outcomes({ done, onLeave }: { readonly done: Done; onLeave(): void }): ReactElement {
  const refused = done.outcomes.filter(({ problem }) => problem !== null).length;
  const well = done.outcomes.length - refused;
  return (
    <div className={`bulk-outcomes notice notice-${refused === 0 ? 'good' : 'wait'}`} role="status">
      <p>
        {done.action}: {well} done{refused === 0 ? '' : `, ${refused} not`}.
      </p>
      <ul aria-label="How it went">
        {done.outcomes.map(({ id, name, problem }) => (
          <li key={id}>
            <strong>{name}</strong>: {problem ?? 'done'}
          </li>
        ))}
      </ul>
      <Button kind="quiet" onClick={onLeave}>
        Understood
      </Button>
    </div>
  );
}

interface QuestionProps<Row extends BulkRow> {
  readonly action: BulkAction<Row>;
  readonly chosen: readonly Row[];
  onLeave(): void;
  onYes(): void;
}

function Question<Row extends BulkRow>({ action, chosen, onLeave, onYes }: QuestionProps<Row>): ReactElement {
  const count = chosen.length;
  return (
    <Dialog title={`${action.name} ${count} selected?`} onLeave={onLeave}>
      <p>{action.warning}</p>
      <ul className="bulk-names">
        {chosen.map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
      </ul>
      <div className="dialog-actions">
        <Button autoFocus onClick={onLeave}>
          Keep them
        </Button>
        <Button kind="danger" onClick={onYes}>
          {action.name} {count}
        </Button>
      </div>
    </Dialog>
  );
}
