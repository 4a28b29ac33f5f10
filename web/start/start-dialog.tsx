/**
 * Starting a conversation.
 * Owns the form; where it is placed follows the user's settings unless a sandbox is named.
 */
import { useCallback, useState, type FormEvent, type ReactElement } from 'react';
import type { InputOf } from '../../api/client/client.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { Problems } from '../components/notice.tsx';
import { useAction } from '../data/use-action.ts';
import { usePolled } from '../data/use-polled.ts';
import { goTo } from '../routing/use-place.ts';
import { useSession } from '../session/session.ts';
import { moreOf, NO_MORE } from './more-draft.ts';
import { StartMore } from './start-more.tsx';
import { GROUPING_LABELS } from '../text/words.ts';

const EMPTY = { message: '', title: '', repository: '', branch: '', sandbox: '', ...NO_MORE };
type Draft = typeof EMPTY;
type StartBody = NonNullable<InputOf<'start_app_conversation'>['body']>;

export function StartDialog({ onLeave }: { onLeave(): void }): ReactElement {
  const { client } = useSession();
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const action = useAction();
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change });
  const start = async (): Promise<void> => {
    await action.run(async () => {
      // Chosen here, so that its page can be shown while it is still starting.
      const id = globalThis.crypto.randomUUID().replaceAll('-', '');
      await client.startAppConversation({ body: { ...requestOf(draft), conversation_id: id } });
      onLeave();
      goTo({ page: 'conversation', id });
    });
  };
  return (
    <Dialog title="Start a conversation" onLeave={onLeave}>
      <form
        className="stack"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void start();
        }}
      >
        <Field label="Message">
          {(ids) => (
            <textarea
              {...ids}
              rows={4}
              autoFocus
              placeholder="What should the agent do?"
              value={draft.message}
              onChange={(event) => set({ message: event.target.value })}
            />
          )}
        </Field>
        <Places draft={draft} onChange={set} />
        <StartMore draft={draft} onChange={set} />
        <Problems of={action.problems} />
        <div className="dialog-actions">
          <Button onClick={onLeave}>Cancel</Button>
          <Button kind="primary" type="submit" busy={action.isBusy}>
            Start
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface PlacesProps {
  readonly draft: Draft;
  onChange(change: Partial<Draft>): void;
}

function Places({ draft, onChange }: PlacesProps): ReactElement {
  const { client } = useSession();
  const ask = useCallback(
    (signal: AbortSignal) => client.searchSandboxes({ query: { status: ['RUNNING', 'PAUSED'] } }, { signal }),
    [client],
  );
  const settings = useCallback((signal: AbortSignal) => client.getSettings({}, { signal }), [client]);
  const sandboxes = usePolled(ask).value?.items;
  const strategy = usePolled(settings, null).value?.sandbox_grouping_strategy;
  const byStrategy =
    strategy === undefined ? 'By my settings' : `By my settings: ${GROUPING_LABELS[strategy]}`;
  const text = (
    name: 'title' | 'repository' | 'branch',
    label: string,
    placeholder: string,
  ): ReactElement => (
    <Field label={label}>
      {(ids) => (
        <input
          {...ids}
          placeholder={placeholder}
          value={draft[name]}
          onChange={(event) => onChange({ [name]: event.target.value } as Partial<Draft>)}
        />
      )}
    </Field>
  );
  return (
    <div className="columns">
      {text('title', 'Title', 'Optional')}
      <Field label="Sandbox">
        {(ids) => (
          <select
            {...ids}
            value={draft.sandbox}
            onChange={(event) => onChange({ sandbox: event.target.value })}
          >
            <option value="">{byStrategy}</option>
            {(sandboxes ?? []).map(({ id, status }) => (
              <option key={id} value={id}>
                {id.slice(0, 8)} · {status.toLowerCase()}
              </option>
            ))}
          </select>
        )}
      </Field>
      {text('repository', 'Repository', 'owner/repository')}
      {text('branch', 'Branch', 'Default branch')}
    </div>
  );
}

function requestOf({ message, title, repository, branch, sandbox, ...more }: Draft): StartBody {
  const text = message.trim();
  return {
    ...(text === '' ? {} : { initial_message: { content: [{ type: 'text' as const, text }] } }),
    ...(title.trim() === '' ? {} : { title: title.trim() }),
    ...(repository.trim() === '' ? {} : { selected_repository: repository.trim() }),
    ...(branch.trim() === '' ? {} : { selected_branch: branch.trim() }),
    ...(sandbox === '' ? {} : { sandbox_id: sandbox }),
    ...moreOf(more),
  };
}
