/**
 * What an action does, whole: a command, an edit with old and new, or the arguments of any other tool.
 * Owns the choice of the form.
 */
import { lazy, type ReactElement, Suspense } from 'react';
import { Code, CodeText } from '../code/code.tsx';
import { languageOf } from '../code/language-of.ts';
import { actionDetail, type ActionDetail as Detail } from './action-text.ts';
import type { TranscriptEvent } from './event-text.ts';

const Comparison = lazy(async () => ({ default: (await import('../work/comparison.tsx')).Comparison }));

export function ActionDetail({ event }: { readonly event: TranscriptEvent }): ReactElement | null {
  return <DetailOf detail={actionDetail(event)} />;
}

function DetailOf({ detail }: { readonly detail: Detail }): ReactElement | null {
  switch (detail.kind) {
    case 'command':
      return (
        <pre className="command">
          <span aria-hidden="true">$ </span>
          <CodeText text={detail.command} language="bash" />
        </pre>
      );
    case 'edit':
      return (
        <div className="edit">
          <p>
            {detail.verb} <code>{detail.path}</code>
          </p>
          <Suspense
            fallback={
              <div aria-busy="true">
                <Code text={detail.after} language={languageOf(detail.path)} />
              </div>
            }
          >
            <Comparison before={detail.before} after={detail.after} path={detail.path} look="split" />
          </Suspense>
        </div>
      );
    case 'other':
      return detail.text === '' ? null : <Code text={detail.text} language={detail.language} />;
  }
}
