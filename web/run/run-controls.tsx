/**
 * Steering a run: pause, drain, resume, cancel, and how many conversations go on at once.
 * Owns which of these fits its state; what becomes of a request is shown by the run itself.
 */
import { type ReactElement, useState } from 'react';
import type { InputOf } from '../../api/client/client.ts';
import { ConfirmDialog, FormDialog } from '../components/dialog.tsx';
import { Button, TextField } from '../components/form.tsx';
import { Problems } from '../components/parts.tsx';
import { useAction } from '../data/use-action.ts';
import { useSession } from '../session/session.ts';
import type { RunRecord } from './run-phase.ts';

type Body = InputOf<'control_run'>['body'];
type ControlBody = Body extends infer One
  ? One extends Body
    ? Omit<One, 'requestId' | 'by'>
    : never
  : never;

/** Asks a run for something; a repeat of the same click by the transport changes nothing. */
export function useControl(id: string, onChange: () => void) {
  const { client } = useSession();
  const action = useAction(onChange);
  const send = (wish: ControlBody): Promise<unknown> => {
    const requestId = `console-${globalThis.crypto.randomUUID()}`;
    return client.controlRun({ params: { run_id: id }, body: { ...wish, requestId } as Body });
  };
  return { ...action, send, ask: (wish: ControlBody) => action.run(() => send(wish)) };
}

interface RunControlsProps {
  readonly run: RunRecord;
  onChange(): void;
}

export function RunControls({ run, onChange }: RunControlsProps): ReactElement | null {
  const [asked, setAsked] = useState<'cancel' | 'concurrency' | null>(null);
  const { ask, send, isBusy, problems } = useControl(run.id, onChange);
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
      <Problems of={problems} />
      {asked === 'cancel' ? (
        <ConfirmDialog
          title="Cancel this run?"
          word="Cancel the run"
          keep="Let it go on"
          work={() => send({ type: 'cancelRequested' })}
          onLeave={leave}
          onDone={onChange}
        >
          <p>
            {run.in_flight} at work stop, and {run.waiting} that wait never begin. What has ended keeps its
            results.
          </p>
        </ConfirmDialog>
      ) : null}
      {asked === 'concurrency' ? <ConcurrencyDialog send={send} onLeave={leave} onDone={onChange} /> : null}
    </>
  );
}

interface ConcurrencyDialogProps {
  send(wish: ControlBody): Promise<unknown>;
  onLeave(): void;
  onDone(): void;
}

const CONCURRENCY_MAX = 10_000;

function ConcurrencyDialog({ send, onLeave, onDone }: ConcurrencyDialogProps): ReactElement {
  const [text, setText] = useState('');
  return (
    <FormDialog
      title="Conversations at once"
      word="Set"
      work={() => send({ type: 'settingsChanged', settings: { concurrency: Number(text) } })}
      onLeave={onLeave}
      onDone={onDone}
    >
      <TextField
        label="Concurrency"
        hint="Those that are at work go on; it holds for whoever begins next."
        type="number"
        min={1}
        max={CONCURRENCY_MAX}
        required
        autoFocus
        value={text}
        onText={setText}
      />
    </FormDialog>
  );
}
