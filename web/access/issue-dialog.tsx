/**
 * Making an API key.
 * Owns the form; the key itself is handed to whoever shows it.
 */
import { useState, type FormEvent, type ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { Problems } from '../components/notice.tsx';
import { useAction } from '../data/use-action.ts';
import { beginOf } from '../lists/filter-field.ts';
import { useSession } from '../session/session.ts';

export type IssuedKey = ResultOf<'issue_key'>;

export interface IssueDialogProps {
  readonly isAdmin: boolean;
  /** Whose it becomes. */
  readonly userId: string;
  onLeave(): void;
  onIssued(key: IssuedKey): void;
}

export function IssueDialog({ isAdmin, userId, onLeave, onIssued }: IssueDialogProps): ReactElement {
  const { client } = useSession();
  const [draft, setDraft] = useState({ name: '', scope: 'user', until: '' });
  const action = useAction();
  const set = (change: Partial<typeof draft>): void => setDraft({ ...draft, ...change });
  const issue = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const { name, scope, until } = draft;
    const isDone = await action.run(async () => {
      const body = {
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        scope: scope === 'admin' ? ('admin' as const) : ('user' as const),
        ...(isAdmin ? { user_id: userId } : {}),
        expires_at: beginOf(until, 1),
      };
      onIssued(await client.issueKey({ body }));
    });
    if (isDone) onLeave();
  };
  return (
    <Dialog title={`Make a key for ${userId}`} onLeave={onLeave}>
      <form className="stack" onSubmit={(event) => void issue(event)}>
        <Field label="Name" hint="What it is for; it stands in the audit log with what it does.">
          {(ids) => (
            <input
              {...ids}
              autoFocus
              maxLength={200}
              value={draft.name}
              onChange={({ target }) => set({ name: target.value })}
            />
          )}
        </Field>
        {isAdmin ? (
          <Field label="Scope" hint="An administrator sees and changes what is everybody's.">
            {(ids) => (
              <select {...ids} value={draft.scope} onChange={({ target }) => set({ scope: target.value })}>
                <option value="user">User</option>
                <option value="admin">Administrator</option>
              </select>
            )}
          </Field>
        ) : null}
        <Field label="Last day" hint="Empty: it never expires.">
          {(ids) => (
            <input
              {...ids}
              type="date"
              value={draft.until}
              onChange={({ target }) => set({ until: target.value })}
            />
          )}
        </Field>
        <Problems of={action.problems} />
        <div className="dialog-actions">
          <Button onClick={onLeave}>Leave it</Button>
          <Button kind="primary" type="submit" busy={action.isBusy}>
            Make the key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
