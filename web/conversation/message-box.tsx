/**
 * The box for the next message.
 * Owns when it may be used: never on a conversation that is read-only; a released sandbox is resumed for it (D7).
 */
import { type FormEvent, type KeyboardEvent, type ReactElement, useState } from 'react';
import { Button } from '../components/form.tsx';
import { Notice, Problems } from '../components/parts.tsx';
import { useAction } from '../data/use-action.ts';
import { useSession } from '../session/session.ts';
import type { ChangingProps } from './conversation-table.tsx';

export function MessageBox({ record, onChange }: ChangingProps): ReactElement | null {
  const { client } = useSession();
  const [text, setText] = useState('');
  const [answer, setAnswer] = useState<string | null>(null);
  const action = useAction(onChange);
  const { id, sandbox_status: status, start_task_status: start } = record;
  if (status === 'MISSING' || status === 'ERROR' || start === 'ERROR') return null;
  const send = async (): Promise<void> => {
    const content = [{ type: 'text' as const, text: text.trim() }];
    if (text.trim() === '') return;
    const isDone = await action.run(async () => {
      const params = { conversation_id: id };
      if (start === 'READY') {
        const { message } = await client.sendMessage({ params, body: { content } });
        setAnswer(message);
      } else {
        const { position } = await client.queuePendingMessage({ params, body: { content } });
        setAnswer(`Queued at place ${position} until the conversation has started.`);
      }
    });
    if (isDone) setText('');
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <form
      className="message-box card"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        aria-label="Message to the agent"
        rows={2}
        placeholder={start === 'READY' ? 'Message to the agent' : 'Sent when the conversation has started'}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="message-box-foot">
        <span className="hint">Enter sends, Shift and Enter begins a line</span>
        <Button kind="primary" type="submit" busy={action.isBusy} disabled={text.trim() === ''}>
          Send
        </Button>
      </div>
      {answer === null ? null : <Notice tone="calm">{answer}</Notice>}
      <Problems of={action.problems} />
    </form>
  );
}
