/**
 * Starting a conversation.
 * Owns the form; where it is placed follows the user's settings unless a sandbox is named.
 */
import { type ReactElement, useState } from 'react';
import { FormDialog } from '../components/dialog.tsx';
import { ChoiceField, Field, TextField, CodeField } from '../components/form.tsx';
import { NamedRows } from '../components/named-rows.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { goTo } from '../routing/use-place.ts';
import { useSession } from '../session/session.ts';
import { GROUPING_LABELS } from '../text/words.ts';
import { type MoreDraft, moreOf, NO_MORE, type StartBody } from './more-draft.ts';

const EMPTY = { message: '', title: '', repository: '', branch: '', sandbox: '', ...NO_MORE };
type Draft = typeof EMPTY;

export function StartDialog({ onLeave }: { onLeave(): void }): ReactElement {
  const { client } = useSession();
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change });
  const start = async (): Promise<void> => {
    // Chosen here, so that its page can be shown while it is still starting.
    const id = globalThis.crypto.randomUUID().replaceAll('-', '');
    await client.startAppConversation({ body: { ...requestOf(draft), conversation_id: id } });
    goTo({ page: 'conversation', id });
  };
  return (
    <FormDialog title="Start a conversation" word="Start" leave="Cancel" work={start} onLeave={onLeave}>
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
    </FormDialog>
  );
}

interface PlacesProps {
  readonly draft: Draft;
  onChange(change: Partial<Draft>): void;
}

function Places({ draft, onChange }: PlacesProps): ReactElement {
  const listed = useAnswer('searchSandboxes', { query: { status: ['RUNNING', 'PAUSED'] } });
  const strategy = useAnswer('getSettings', {}, null).value?.sandbox_grouping_strategy;
  const byStrategy =
    strategy === undefined ? 'By my settings' : `By my settings: ${GROUPING_LABELS[strategy]}`;
  const text = (name: 'title' | 'repository' | 'branch', label: string, placeholder: string) => (
    <TextField
      label={label}
      placeholder={placeholder}
      value={draft[name]}
      onText={(typed) => onChange({ [name]: typed } as Partial<Draft>)}
    />
  );
  const sandboxes = (listed.value?.items ?? []).map(
    ({ id, status }) => [id, `${id.slice(0, 8)} · ${status.toLowerCase()}`] as const,
  );
  return (
    <div className="columns">
      {text('title', 'Title', 'Optional')}
      <ChoiceField
        label="Sandbox"
        value={draft.sandbox}
        choices={[['', byStrategy], ...sandboxes]}
        onText={(sandbox) => onChange({ sandbox })}
      />
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

interface StartMoreProps {
  readonly draft: MoreDraft;
  onChange(change: Partial<MoreDraft>): void;
}

/** What else a conversation can begin with: model, tags, secrets, plugins. */
function StartMore({ draft, onChange }: StartMoreProps): ReactElement {
  const models = useAnswer('searchModels', {}, null).value?.items ?? [];
  const stored = useAnswer('searchSecrets', {}, null).value?.items ?? [];
  const lines = (name: 'tags' | 'plugins', label: string, hint: string): ReactElement => (
    <CodeField
      label={label}
      hint={hint}
      rows={2}
      value={draft[name]}
      onText={(text) => onChange({ [name]: text } as Partial<MoreDraft>)}
    />
  );
  return (
    <details>
      <summary>Model, tags, secrets, plugins</summary>
      <div className="stack">
        <ChoiceField
          label="Model"
          value={draft.model}
          choices={[['', 'By my settings'], ...models.map(({ name }) => [name, name] as const)]}
          onText={(model) => onChange({ model })}
        />
        {lines('tags', 'Tags', 'One a line: key=value; keys of lower-case letters and digits.')}
        <NamedRows
          legend="Secrets"
          noun="secret"
          add="Add a secret"
          isSecret
          rows={draft.secrets}
          onChange={(secrets) => onChange({ secrets })}
        >
          <p className="hint">
            {stored.length === 0
              ? 'None is stored for every conversation.'
              : `Stored ones come along: ${stored.map(({ name }) => name).join(', ')}. One of the same name here counts instead.`}
          </p>
        </NamedRows>
        {lines(
          'plugins',
          'Plugins',
          'One a line: owner/repository, @branch or @tag behind it, then a folder of it.',
        )}
      </div>
    </details>
  );
}
