/**
 * Sandbox Configuration: Idle Time and Deletion Time, for the whole deployment (D10).
 * Owns the two fields.
 */
import { useState, type FormEvent, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Field } from '../components/field.tsx';
import { Problems } from '../components/notice.tsx';
import { useAction } from '../data/use-action.ts';
import { useSession } from '../session/session.ts';
import { duration } from '../text/time.ts';
import type { SectionProps } from './deployed.tsx';

const SECONDS_MAX = 366 * 86_400;

export function SandboxSection({ configuration, onDeployed }: SectionProps): ReactElement {
  const { client } = useSession();
  const { fields, revision } = configuration;
  const [idle, setIdle] = useState(String(fields.idle_time));
  const [deletion, setDeletion] = useState(String(fields.deletion_time));
  const action = useAction();
  const deploy = (event: FormEvent): void => {
    event.preventDefault();
    void action.run(async () => {
      const wanted = { idle_time: Number(idle), deletion_time: Number(deletion) };
      onDeployed(await client.updateConfiguration({ body: { fields: wanted, revision } }));
    });
  };
  const seconds = (label: string, text: string, onChange: (text: string) => void): ReactElement => (
    <Field label={label} hint={`Seconds; ${spelled(text)}`}>
      {(ids) => (
        <input
          {...ids}
          type="number"
          required
          min={0}
          max={SECONDS_MAX}
          step={1}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
  return (
    <form className="card stack" aria-labelledby="sandbox-configuration" onSubmit={deploy}>
      <h2 id="sandbox-configuration">Sandbox Configuration</h2>
      <p className="quiet">
        For every sandbox that is made from now on. Those that exist keep the limits they began with.
      </p>
      <div className="columns">
        {seconds('Idle Time', idle, setIdle)}
        {seconds('Deletion Time', deletion, setDeletion)}
      </div>
      <Problems of={action.problems} />
      <div className="form-actions">
        <Button kind="primary" type="submit" busy={action.isBusy}>
          Save and deploy
        </Button>
      </div>
    </form>
  );
}

function spelled(text: string): string {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds < 0) return 'a number of 0 or more.';
  return seconds === 0 ? '0 is never.' : `${duration(seconds * 1_000)}.`;
}
