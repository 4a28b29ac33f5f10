/**
 * Title and tags of a conversation, changed.
 * Owns the form; tags are replaced as a whole (D21).
 */
import { useState, type FormEvent, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { Problems } from '../components/notice.tsx';
import { useAction } from '../data/use-action.ts';
import { useSession } from '../session/session.ts';
import { parsedTags, tagsText } from '../text/tags.ts';
import type { ConversationRecord } from './conversation-table.tsx';

export interface EditDialogProps {
  readonly record: ConversationRecord;
  onLeave(): void;
  onChange(): void;
}

export function EditDialog({ record, onLeave, onChange }: EditDialogProps): ReactElement {
  const { client } = useSession();
  const [title, setTitle] = useState(record.title);
  const [tags, setTags] = useState(() => tagsText(record.tags));
  const action = useAction();
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const isDone = await action.run(async () => {
      const params = { conversation_id: record.id };
      await client.updateAppConversation({ params, body: { title, tags: parsedTags(tags) } });
      onChange();
    });
    if (isDone) onLeave();
  };
  return (
    <Dialog title="Title and tags" onLeave={onLeave}>
      <form className="stack" onSubmit={(event) => void save(event)}>
        <Field label="Title">
          {(ids) => (
            <input
              {...ids}
              required
              autoFocus
              maxLength={200}
              value={title}
              onChange={({ target }) => setTitle(target.value)}
            />
          )}
        </Field>
        <Field label="Tags" hint="One a line: key=value; keys of lower-case letters and digits.">
          {(ids) => (
            <textarea
              {...ids}
              className="code"
              rows={4}
              spellCheck={false}
              value={tags}
              onChange={({ target }) => setTags(target.value)}
            />
          )}
        </Field>
        <Problems of={action.problems} />
        <div className="dialog-actions">
          <Button onClick={onLeave}>Leave it</Button>
          <Button kind="primary" type="submit" busy={action.isBusy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
