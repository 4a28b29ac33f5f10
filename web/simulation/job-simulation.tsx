/**
 * A job played before it is run: requested, under way, shown, out of date, or refused.
 * Owns these states; a play costs the service seconds, so it begins on request, and ends when the user gives it up.
 */
import { lazy, type ReactElement, Suspense, useEffect, useRef, useState } from 'react';
import { Button } from '../components/form.tsx';
import { Notice, Problems } from '../components/parts.tsx';
import { saveFile } from '../conversation/save-file.ts';
import { useAction } from '../data/use-action.ts';
import { useSession } from '../session/session.ts';
import type { Simulation } from './simulation-series.ts';

const SimulationView = lazy(async () => ({
  default: (await import('./simulation-view.tsx')).SimulationView,
}));

export interface PlayedJob {
  readonly text: string;
  readonly inputs: Readonly<Record<string, string>>;
}

export interface JobSimulationProps extends PlayedJob {
  /** Of the plan; null while what is in the editor compiles to none. */
  readonly name: string | null;
}

interface Shown extends PlayedJob {
  readonly name: string;
  readonly simulation: Simulation;
}

export function JobSimulation({ text, inputs, name }: JobSimulationProps): ReactElement | null {
  const { client } = useSession();
  const playing = useAction();
  const saving = useAction();
  const [shown, setShown] = useState<Shown | null>(null);
  const { begin, stop } = useAbort();
  const play = (): void => {
    const signal = begin();
    void playing.run(() =>
      unlessAborted(signal, async () => {
        const simulation = await client.simulateJob({ body: bodyOf({ text, inputs }) }, { signal });
        setShown({ text, inputs, name: name ?? '', simulation });
      }),
    );
  };
  const save = (of: Shown): void => {
    void saving.run(async () => {
      await saveFile(await client.drawJobSimulation({ body: bodyOf(of) }), `${of.name}-simulation.html`);
    });
  };
  if (name === null && shown === null) return null;
  const isStale = shown !== null && (shown.text !== text || shown.inputs !== inputs);
  return (
    <section aria-label="Timeline" className="stack">
      <div className="section-head">
        <h2>Timeline</h2>
        <div className="actions">
          {playing.isBusy ? <Button onClick={stop}>Stop</Button> : null}
          {shown === null ? null : (
            <Button busy={saving.isBusy} onClick={() => save(shown)}>
              Download simulation.html
            </Button>
          )}
          <Button busy={playing.isBusy} disabled={name === null} onClick={play}>
            {shown === null ? 'Simulate' : 'Simulate again'}
          </Button>
        </div>
      </div>
      <p className="quiet">
        The job on a virtual clock, under the limits of this deployment: no sandbox is made, and no model is
        called. How long agents work and what they cost is made up.
      </p>
      {playing.isBusy ? (
        <p className="quiet" role="status">
          Playing …
        </p>
      ) : null}
      <Problems of={[...playing.problems, ...saving.problems]} />
      {isStale ? (
        <Notice tone="wait">The job has changed since: this is the timeline of before.</Notice>
      ) : null}
      {shown === null ? null : (
        <Suspense fallback={<p className="quiet">Loading the picture …</p>}>
          <SimulationView of={shown.simulation} />
        </Suspense>
      )}
    </section>
  );
}

function bodyOf({ text, inputs }: PlayedJob) {
  return { text, inputs: Object.fromEntries(Object.entries(inputs).filter(([, value]) => value !== '')) };
}

/** One request at a time, given up with the page. */
function useAbort() {
  const current = useRef<AbortController | null>(null);
  const stop = (): void => current.current?.abort();
  useEffect(() => () => current.current?.abort(), []);
  const begin = (): AbortSignal => {
    stop();
    current.current = new AbortController();
    return current.current.signal;
  };
  return { begin, stop };
}

/** A user who has given up waits for no answer, and for no problem either. */
async function unlessAborted(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
