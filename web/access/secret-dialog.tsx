/**
 * A secret that is stored, gets another value, or another description.
 * Owns the form; what was typed is gone when it is left.
 */
import { type ReactElement, useState } from 'react';
import { FormDialog } from '../components/dialog.tsx';
import { TextField } from '../components/form.tsx';
import { useSession } from '../session/session.ts';

interface SecretDialogProps {
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
  const save = async (): Promise<void> => {
    const words = description.trim() === '' ? null : description.trim();
    if (kind === 'describe')
      await client.describeSecret({ params: { secret_id: name }, body: { description: words } });
    else await client.storeSecret({ body: { name: name.trim(), value, description: words } });
  };
  return (
    <FormDialog title={TITLES[kind]} word="Save" work={save} onLeave={onLeave} onDone={onDone}>
      <TextField
        label="Name"
        hint="As the variable of the environment is called."
        required
        autoFocus={kind === 'new'}
        readOnly={kind !== 'new'}
        spellCheck={false}
        autoComplete="off"
        value={name}
        onText={setName}
      />
      {kind === 'describe' ? null : (
        <TextField
          label="Value"
          hint="It is sealed where it is kept, and nobody is shown it again."
          type="password"
          required
          autoFocus={kind === 'replace'}
          autoComplete="new-password"
          value={value}
          onText={setValue}
        />
      )}
      <TextField
        label="Description"
        maxLength={1_000}
        autoFocus={kind === 'describe'}
        value={description}
        onText={setDescription}
      />
    </FormDialog>
  );
}
