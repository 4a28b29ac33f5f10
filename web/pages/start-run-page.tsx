/**
 * Starting a run: a job file in an editor, what the compiler says of it, what it would cost, and then the start.
 * Owns the text and the asking; nothing of it is kept when the page is left.
 */
import { lazy, type ReactElement, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import type { InputOf, ResultOf } from '../../api/client/client.ts';
import { Button, Field, TextField } from '../components/form.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Notice, Problems } from '../components/parts.tsx';
import { useAction } from '../data/use-action.ts';
import { usePolled } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { goTo } from '../routing/use-place.ts';
import { firstJob } from '../run/first-job.ts';
import { JobFindings, costText, JobOutlook } from '../run/job-outlook.tsx';
import { useSession } from '../session/session.ts';
import { JobSimulation } from '../simulation/job-simulation.tsx';

type Compiled = ResultOf<'compile_job'>;
type SubmittedPlan = NonNullable<InputOf<'submit_run'>['body']>['plan'];
type Words = Readonly<Record<string, string>>;

const JobEditor = lazy(async () => ({ default: (await import('../editor/job-editor.tsx')).JobEditor }));
/** A pause in the typing, after which the text is worth compiling. */
const PAUSE_MS = 400;
const MODEL = 'coder';

export function StartRunPage(): ReactElement {
  const [text, setText] = useState(() => firstJob(MODEL));
  const [inputs, setInputs] = useState<Words>({});
  const { compiled, problem } = useCompiled(text, inputs);
  const names = useNames(compiled?.result.open_inputs);
  const isFresh = compiled !== null && compiled.text === text && compiled.inputs === inputs;
  const result = compiled?.result ?? null;
  return (
    <>
      <PageHead title="Start a run">
        <Link to={{ page: 'runs' }}>Runs</Link> A job file says what is to be done; nothing is spent before it
        is started.
      </PageHead>
      <FileField onText={setText} />
      <div className="card editor-frame">
        <Suspense fallback={<p className="empty quiet">Loading the editor …</p>}>
          <JobEditor
            label="Job file"
            text={text}
            findings={compiled?.text === text ? compiled.result.findings : NONE}
            onChange={setText}
          />
        </Suspense>
      </div>
      {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
      {names.length === 0 ? null : (
        <NamedFields title="Inputs" names={names} values={inputs} type="text" onChange={setInputs} />
      )}
      {result === null ? null : (
        <>
          <JobFindings of={result.findings} />
          {result.outlook === null ? null : <JobOutlook of={result.outlook} />}
          <JobSimulation text={text} inputs={inputs} name={result.plan?.name ?? null} />
          {result.plan === null ? null : <StartForm result={result} isFresh={isFresh} />}
        </>
      )}
    </>
  );
}

const NONE: Compiled['findings'] = [];

interface CompiledText {
  readonly text: string;
  readonly inputs: Words;
  readonly result: Compiled;
}

/** Compiles after a pause; until then what was compiled last is still shown. */
function useCompiled(text: string, inputs: Words) {
  const { client } = useSession();
  const [settled, setSettled] = useState({ text, inputs });
  useEffect(() => {
    // What a page opens with was asked for at once: a second question would be the same one.
    if (settled.text === text && settled.inputs === inputs) return undefined;
    const timer = setTimeout(() => setSettled({ text, inputs }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, inputs, settled]);
  const ask = useCallback(
    async (signal: AbortSignal): Promise<CompiledText> => {
      const given = Object.fromEntries(Object.entries(settled.inputs).filter(([, value]) => value !== ''));
      const result = await client.compileJob({ body: { text: settled.text, inputs: given } }, { signal });
      return { ...settled, result };
    },
    [client, settled],
  );
  const { value, problem } = usePolled(ask, null);
  return { compiled: value, problem };
}

/** Inputs that were ever asked for: one that has a value is asked for no more, and still shown. */
function useNames(open: readonly string[] | undefined): readonly string[] {
  const [names, setNames] = useState<readonly string[]>([]);
  useEffect(() => {
    setNames((before) => {
      const added = (open ?? []).filter((name) => !before.includes(name));
      return added.length === 0 ? before : [...before, ...added];
    });
  }, [open]);
  return names;
}

function FileField({ onText }: { onText(text: string): void }): ReactElement {
  return (
    <Field label="Open a file" hint="It is read by this page, and stays where it is.">
      {(ids) => (
        <input
          {...ids}
          type="file"
          accept=".yaml,.yml"
          onChange={({ target }) => void target.files?.[0]?.text().then(onText)}
        />
      )}
    </Field>
  );
}

interface NamedFieldsProps {
  readonly title: string;
  readonly names: readonly string[];
  readonly values: Words;
  readonly type: 'text' | 'password';
  onChange(values: Words): void;
}

function NamedFields({ title, names, values, type, onChange }: NamedFieldsProps): ReactElement {
  return (
    <fieldset className="stack">
      <legend>{title}</legend>
      {names.map((name) => (
        <TextField
          key={name}
          label={name}
          type={type}
          autoComplete="off"
          value={values[name] ?? ''}
          onText={(text) => onChange({ ...values, [name]: text })}
        />
      ))}
    </fieldset>
  );
}

interface StartFormProps {
  readonly result: Compiled;
  /** The result is of what is in the editor now. */
  readonly isFresh: boolean;
}

function StartForm({ result, isFresh }: StartFormProps): ReactElement {
  const { client } = useSession();
  const action = useAction();
  const [secrets, setSecrets] = useState<Words>({});
  const { plan, outlook } = result;
  const names = useMemo(() => Object.keys((plan?.['secrets'] ?? {}) as Words), [plan]);
  const start = (): void => {
    void action.run(async () => {
      const given = Object.fromEntries(
        names.flatMap((name) => ((secrets[name] ?? '') === '' ? [] : [[name, secrets[name] ?? '']])),
      );
      const run = await client.submitRun({
        body: { plan: plan as unknown as SubmittedPlan, secrets: given },
      });
      goTo({ page: 'run', id: run.id });
    });
  };
  return (
    <section aria-label="Start" className="stack">
      {names.length === 0 ? null : (
        <NamedFields title="Secrets" names={names} values={secrets} type="password" onChange={setSecrets} />
      )}
      <Problems of={action.problems} />
      <div className="form-actions">
        <Button kind="primary" busy={action.isBusy} disabled={!isFresh} onClick={start}>
          Start the run{outlook === null ? '' : `, ${costText(outlook)}`}
        </Button>
      </div>
    </section>
  );
}
