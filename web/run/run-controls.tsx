/**
 * Steering a run: pause, drain, resume, cancel, and how many conversations go on at once.
 * Owns which of these fits its state; what becomes of a request is shown by the run itself.
 */
import { useState, type FormEvent, type ReactElement } from 'react';
import type { InputOf } from '../../api/client/client.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { Problems } from '../components/notice.tsx';
import { useAction } from '../data/use-action.ts';
import { useSession } from '../session/session.ts';
import type { RunRecord } from './run-types.ts';

type Body = InputOf<'control_run'>['body'];
type ControlBody = Body extends infer One
  ? One extends Body
    ? Omit<One, 'requestId' | 'by'>
    : never
  : never;

/** Asks a run for something; a repeat of the same click by the transport changes nothing. */
export function useControl(id: string, onChange: () => void) {
  const { client } = useSession();
  const action = useAction();
  const ask = (wish: ControlBody): Promise<boolean> =>
    action.run(async () => {
      const requestId = `console-${globalThis.crypto.randomUUID()}`;
      await client.controlRun({ params: { run_id: id }, body: { ...wish, requestId } as Body });
      onChange();
    });
  return { ...action, ask };
}

export interface RunControlsProps {
  readonly run: RunRecord;
  onChange(): void;
}

export function RunControls({ run, onChange }: RunControlsProps): ReactElement | null {
  const [asked, setAsked] = useState<'cancel' | 'concurrency' | null>(null);
  const { ask, isBusy, problems } = useControl(run.id, onChange);
  const { phase, mode } = run;
  if (phase === 'finished' || mode === 'cancelling') return null;
  const leave = (): void => setAsked(null);
  return (
    <>
      {mode === 'normal' ? (
        <>
          <Button busy={isBusy} onClick={() => void ask({ type: 'holdRequested' })}>
            Pause
          </Button>
          <Button busy={isBusy} onClick={() => void ask({ type: 'drainRequested' })}>
            Drain
          </Button>
        </>
      ) : (
        <Button busy={isBusy} onClick={() => void ask({ type: 'resumeRequested', classes: [] })}>
          Resume
        </Button>
      )}
      <Button onClick={() => setAsked('concurrency')}>Set concurrency</Button>
      <Button kind="danger" onClick={() => setAsked('cancel')}>
        Cancel run
      </Button>
      <Problems of={asked === null ? problems : []} />
      {asked === 'cancel' ? <CancelDialog run={run} onLeave={leave} onChange={onChange} /> : null}
      {asked === 'concurrency' ? <ConcurrencyDialog run={run} onLeave={leave} onChange={onChange} /> : null}
    </>
  );
}

interface DialogProps extends RunControlsProps {
  onLeave(): void;
}

function CancelDialog({ run, onLeave, onChange }: DialogProps): ReactElement {
  const { ask, isBusy, problems } = useControl(run.id, onChange);
  return (
    <Dialog title="Cancel this run?" onLeave={onLeave}>
      <p>
        {run.in_flight} at work stop, and {run.waiting} that wait never begin. What has ended keeps its
        results.
      </p>
      <Problems of={problems} />
      <div className="dialog-actions">
        <Button autoFocus onClick={onLeave}>
          Let it go on
        </Button>
        <Button
          kind="danger"
          busy={isBusy}
          onClick={() => void ask({ type: 'cancelRequested' }).then((isDone) => isDone && onLeave())}
        >
          Cancel the run
        </Button>
      </div>
    </Dialog>
  );
}

const CONCURRENCY_MAX = 10_000;

function ConcurrencyDialog({ run, onLeave, onChange }: DialogProps): ReactElement {
  const { ask, isBusy, problems } = useControl(run.id, onChange);
  const [text, setText] = useState('');
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (await ask({ type: 'settingsChanged', settings: { concurrency: Number(text) } })) onLeave();
  };
  return (
    <Dialog title="Conversations at once" onLeave={onLeave}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <Field label="Concurrency" hint="Those that are at work go on; it holds for whoever begins next.">
          {(ids) => (
            <input
              {...ids}
              type="number"
              min={1}
              max={CONCURRENCY_MAX}
              required
              autoFocus
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          )}
        </Field>
        <Problems of={problems} />
        <div className="dialog-actions">
          <Button onClick={onLeave}>Leave it</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            Set
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
