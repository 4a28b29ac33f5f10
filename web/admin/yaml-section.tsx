/**
 * The service's configuration as YAML: edit, save and deploy.
 * Owns the text; every finding of the service is shown with its line and column.
 */
import { useState, type FormEvent, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Field } from '../components/field.tsx';
import { Problems } from '../components/notice.tsx';
import { useAction } from '../data/use-action.ts';
import { useSession } from '../session/session.ts';
import type { SectionProps } from './deployed.tsx';

const ROWS_MIN = 12;
const ROWS_MAX = 34;

export function YamlSection({ configuration, onDeployed }: SectionProps): ReactElement {
  const { client } = useSession();
  const [text, setText] = useState(configuration.text);
  const action = useAction();
  const deploy = (event: FormEvent): void => {
    event.preventDefault();
    void action.run(async () => {
      const { revision } = configuration;
      onDeployed(await client.deployConfiguration({ body: { text, revision } }));
    });
  };
  const rows = Math.min(ROWS_MAX, Math.max(ROWS_MIN, text.split('\n').length + 1));
  return (
    <form className="card stack" aria-labelledby="service-config" onSubmit={deploy}>
      <h2 id="service-config">Service config YAML</h2>
      <Field
        label="Configuration"
        hint="Checked as at the start; the text before it is kept beside the file. Values that are secret are written as os.environ/NAME."
      >
        {(ids) => (
          <textarea
            {...ids}
            className="code"
            rows={rows}
            wrap="off"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Problems of={action.problems} />
      <div className="form-actions">
        <Button disabled={text === configuration.text} onClick={() => setText(configuration.text)}>
          Discard
        </Button>
        <Button kind="primary" type="submit" busy={action.isBusy} disabled={text === configuration.text}>
          Save and deploy
        </Button>
      </div>
    </form>
  );
}
