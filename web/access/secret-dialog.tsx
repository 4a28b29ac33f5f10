/**
 * A secret that is stored, gets another value, or another description.
 * Owns the form; what was typed is gone when it is left.
 */
import { useState, type FormEvent, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { Problems } from '../components/notice.tsx';
import { useAction } from '../data/use-action.ts';
import { useSession } from '../session/session.ts';

export interface SecretDialogProps {
  readonly kind: 'new' | 'replace' | 'describe';
  readonly secret: { readonly name: string; readonly description: string | null } | null;
  onLeave(): void;
  onDone(): void;
}

const TITLES = {
  new: 'Store a secret',
  replace: 'Another value',
  describe: 'Description of a secret',
} as const;

export function SecretDialog({ kind, secret, onLeave, onDone }: SecretDialogProps): ReactElement {
  const { client } = useSession();
  const [name, setName] = useState(secret?.name ?? '');
  const [value, setValue] = useState('');
  const [description, setDescription] = useState(secret?.description ?? '');
  const action = useAction();
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const words = description.trim() === '' ? null : description.trim();
    const isDone = await action.run(async () => {
      if (kind === 'describe')
        await client.describeSecret({ params: { secret_id: name }, body: { description: words } });
      else await client.storeSecret({ body: { name: name.trim(), value, description: words } });
    });
    if (!isDone) return;
    onLeave();
    onDone();
  };
  return (
    <Dialog title={TITLES[kind]} onLeave={onLeave}>
      <form className="stack" onSubmit={(event) => void save(event)}>
        <Field label="Name" hint="As the variable of the environment is called.">
          {(ids) => (
            <input
              {...ids}
              required
              autoFocus={kind === 'new'}
              readOnly={kind !== 'new'}
              spellCheck={false}
              autoComplete="off"
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
        {kind === 'describe' ? null : (
          <ValueField isFirst={kind === 'replace'} value={value} onChange={setValue} />
        )}
        <Field label="Description">
          {(ids) => (
            <input
              {...ids}
              maxLength={1_000}
              autoFocus={kind === 'describe'}
              value={description}
              onChange={({ target }) => setDescription(target.value)}
            />
          )}
        </Field>
        <Problems of={action.problems} />
        <div className="dialog-actions">
          <Button onClick={onLeave}>Leave it</Button>
          <Button kind="primary" type="submit" busy={action.isBusy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface ValueFieldProps {
  /** Nothing before it can be changed. */
  readonly isFirst: boolean;
  readonly value: string;
  onChange(value: string): void;
}

function ValueField({ isFirst, value, onChange }: ValueFieldProps): ReactElement {
  return (
    <Field label="Value" hint="It is sealed where it is kept, and nobody is shown it again.">
      {(ids) => (
        <input
          {...ids}
          type="password"
          required
          autoFocus={isFirst}
          autoComplete="new-password"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
