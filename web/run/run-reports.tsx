/**
 * The reports that a run has left, each as a file.
 * Owns which there are: those that its plan asks for, once they are written.
 */
import type { ReactElement } from 'react';
import { Button } from '../components/form.tsx';
import { Problems } from '../components/parts.tsx';
import { saveFile } from '../conversation/save-file.ts';
import { useAction } from '../data/use-action.ts';
import { useAnswer } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import type { RunRecord } from './run-phase.ts';

/** Nothing while the run goes on, and of a run that asks for none. What they say is the console's page of the report. */
export function RunReports({ run }: { readonly run: RunRecord }): ReactElement | null {
  return run.phase === 'closing' || run.phase === 'finished' ? <Written id={run.id} /> : null;
}

function Written({ id }: { readonly id: string }): ReactElement | null {
  const { client } = useSession();
  const action = useAction();
  const plan = useAnswer('getRunPlan', { params: { run_id: id } }, null).value;
  const files = plan === null ? [] : filesOf(plan);
  if (files.length === 0) return null;
  const save = (name: string): void => {
    void action.run(async () => {
      const file = await client.getRunResult({ params: { run_id: id }, query: { name } });
      await saveFile(file, `${id}-${name.slice(name.lastIndexOf('/') + 1)}`);
    });
  };
  return (
    <>
      {files.map((name) => (
        <Button key={name} busy={action.isBusy} onClick={() => save(name)}>
          Download {name}
        </Button>
      ))}
      <Problems of={action.problems} />
    </>
  );
}

/** A page first, because people read it. */
function filesOf(plan: Readonly<Record<string, unknown>>): readonly string[] {
  const reports = Array.isArray(plan['report']) ? (plan['report'] as readonly unknown[]) : [];
  const files = reports.flatMap((one) => {
    const file = (one as { readonly file?: unknown } | null)?.file;
    return typeof file === 'string' ? [file] : [];
  });
  return files.toSorted((a, b) => Number(b.endsWith('.html')) - Number(a.endsWith('.html')));
}
