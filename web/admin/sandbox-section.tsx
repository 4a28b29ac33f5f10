/**
 * Sandbox Configuration: Idle Time and Deletion Time, for the whole deployment (D10).
 * Owns the two fields.
 */
import { type ReactElement, useState } from 'react';
import { TextField, CodeField } from '../components/form.tsx';
import { useSession } from '../session/session.ts';
import { duration } from '../text/time.ts';
import { DeployForm, type SectionProps } from './deployed.tsx';

const SECONDS_MAX = 366 * 86_400;

export function SandboxSection({ configuration, onDeployed }: SectionProps): ReactElement {
  const { client } = useSession();
  const { fields, revision } = configuration;
  const [idle, setIdle] = useState(String(fields.idle_time));
  const [deletion, setDeletion] = useState(String(fields.deletion_time));
  const deploy = async (): Promise<void> => {
    const wanted = { idle_time: Number(idle), deletion_time: Number(deletion) };
    onDeployed(await client.updateConfiguration({ body: { fields: wanted, revision } }));
  };
  const seconds = (label: string, text: string, onText: (text: string) => void): ReactElement => (
    <TextField
      label={label}
      hint={`Seconds; ${spelled(text)}`}
      type="number"
      required
      min={0}
      max={SECONDS_MAX}
      step={1}
      value={text}
      onText={onText}
    />
  );
  return (
    <DeployForm id="sandbox-configuration" title="Sandbox Configuration" deploy={deploy}>
      <p className="quiet">
        For every sandbox that is made from now on. Those that exist keep the limits they began with.
      </p>
      <div className="columns">
        {seconds('Idle Time', idle, setIdle)}
        {seconds('Deletion Time', deletion, setDeletion)}
      </div>
    </DeployForm>
  );
}

function spelled(text: string): string {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds < 0) return 'a number of 0 or more.';
  return seconds === 0 ? '0 is never.' : `${duration(seconds * 1_000)}.`;
}

const ROWS_MIN = 12;
const ROWS_MAX = 34;

/** The service's configuration as YAML: edit, save and deploy. */
export function YamlSection({ configuration, onDeployed }: SectionProps): ReactElement {
  const { client } = useSession();
  const [text, setText] = useState(configuration.text);
  const deploy = async (): Promise<void> => {
    const { revision } = configuration;
    onDeployed(await client.deployConfiguration({ body: { text, revision } }));
  };
  const rows = Math.min(ROWS_MAX, Math.max(ROWS_MIN, text.split('\n').length + 1));
  return (
    <DeployForm
      id="service-config"
      title="Service config YAML"
      isSame={text === configuration.text}
      onDiscard={() => setText(configuration.text)}
      deploy={deploy}
    >
      <CodeField
        label="Configuration"
        hint="Checked as at the start; the text before it is kept beside the file. Values that are secret are written as os.environ/NAME."
        rows={rows}
        wrap="off"
        value={text}
        onText={setText}
      />
    </DeployForm>
  );
}
