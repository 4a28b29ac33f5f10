/**
 * What can be done to a conversation: interrupt its agent, stop or resume its sandbox, take the trajectory, give it
 * another title and tags, delete it.
 * Owns which of these fits its state; a shared sandbox is stopped only after the other conversations were shown.
 */
import { type ReactElement, useState } from 'react';
import { ConfirmDialog, FormDialog } from '../components/dialog.tsx';
import { Button, CodeField, TextField } from '../components/form.tsx';
import { ImpactDialog } from '../components/impact-dialog.tsx';
import { Problems } from '../components/parts.tsx';
import { useAction } from '../data/use-action.ts';
import { goTo } from '../routing/use-place.ts';
import { useSession } from '../session/session.ts';
import { parsedTags, tagsText } from '../text/tags.ts';
import type { ChangingProps } from './conversation-table.tsx';
import { saveFile } from './save-file.ts';

const AT_WORK = new Set(['RUNNING', 'WAITING_FOR_CONFIRMATION']);

export function ConversationActions({ record, onChange }: ChangingProps): ReactElement {
  const { client } = useSession();
  const [asked, setAsked] = useState<'stop' | 'delete' | 'edit' | null>(null);
  const action = useAction(onChange);
  const { id, sandbox_id: sandboxId, sandbox_status: status } = record;
  const isReleased = status === 'PAUSED' && record.conversation_url === null;
  const run = (work: () => Promise<unknown>): void => void action.run(work);
  return (
    <>
      {AT_WORK.has((record.execution_status ?? '').toUpperCase()) && record.conversation_url !== null ? (
        <Button
          busy={action.isBusy}
          onClick={() => run(() => client.interruptAgent({ params: { conversation_id: id } }))}
        >
          Interrupt
        </Button>
      ) : null}
      {sandboxId !== null && isReleased ? (
        <Button
          busy={action.isBusy}
          onClick={() => run(() => client.resumeSandbox({ params: { sandbox_id: sandboxId } }))}
        >
          Resume sandbox
        </Button>
      ) : null}
      {sandboxId !== null && !isReleased && (status === 'RUNNING' || status === 'PAUSED') ? (
        <Button onClick={() => setAsked('stop')}>Stop sandbox</Button>
      ) : null}
      <Button
        busy={action.isBusy}
        onClick={() =>
          run(async () =>
            saveFile(await client.downloadTrajectory({ params: { conversation_id: id } }), `${id}.zip`),
          )
        }
      >
        Download
      </Button>
      <Button onClick={() => setAsked('edit')}>Edit</Button>
      <Button kind="danger" onClick={() => setAsked('delete')}>
        Delete
      </Button>
      <Problems of={action.problems} />
      {asked === 'stop' && sandboxId !== null ? (
        <ImpactDialog sandboxId={sandboxId} kind="pause" onLeave={() => setAsked(null)} />
      ) : null}
      {asked === 'edit' ? (
        <EditDialog record={record} onLeave={() => setAsked(null)} onChange={onChange} />
      ) : null}
      {asked === 'delete' ? (
        <ConfirmDialog
          title="Delete this conversation?"
          word="Delete conversation"
          work={() => client.deleteAppConversation({ params: { conversation_id: id } })}
          onLeave={() => setAsked(null)}
          onDone={() => goTo({ page: 'conversations' })}
        >
          <p>
            “{record.title}” and its transcript are removed for good. A sandbox that was made for it goes too,
            unless another conversation is in it.
          </p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}

interface EditDialogProps extends ChangingProps {
  onLeave(): void;
}

/** Title and tags of a conversation, changed. */
function EditDialog({ record, onLeave, onChange }: EditDialogProps): ReactElement {
  const { client } = useSession();
  const [title, setTitle] = useState(record.title);
  const [tags, setTags] = useState(() => tagsText(record.tags));
  const save = async (): Promise<void> => {
    const params = { conversation_id: record.id };
    await client.updateAppConversation({ params, body: { title, tags: parsedTags(tags) } });
  };
  return (
    <FormDialog title="Title and tags" word="Save" work={save} onLeave={onLeave} onDone={onChange}>
      <TextField label="Title" required autoFocus maxLength={200} value={title} onText={setTitle} />
      <CodeField
        label="Tags"
        hint="One a line: key=value; keys of lower-case letters and digits."
        rows={4}
        value={tags}
        onText={setTags}
      />
    </FormDialog>
  );
}
