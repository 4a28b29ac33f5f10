// A reader of streamed chat completions, written from the vendor's description and not from the writer under test.
// It must not forgive: a frame out of order is an error.

interface Delta {
  role?: string;
  content?: string | null;
  tool_calls?: {
    index: number;
    id?: string;
    type?: string;
    function: { name?: string; arguments: string };
  }[];
}
interface Chunk {
  id: string;
  created: number;
  model: string;
  choices: { index: number; delta: Delta; finish_reason: string | null }[];
  usage?: unknown;
}

/** The completion object that the frames of a stream add up to; `usage` only when a frame had it. */
export function reassemble(text: string): unknown {
  const datas = text.split('\n\n').map((frame) => frame.replace(/^data: /, ''));
  if (datas.pop() !== '' || datas.pop() !== '[DONE]') throw new Error('the stream does not end with [DONE]');
  const chunks = datas.map((data) => JSON.parse(data) as Chunk);
  const message = { role: '', content: null as string | null };
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  let finish: string | null = null;
  let usage: unknown;
  for (const chunk of chunks) {
    if (usage != null) throw new Error('a frame after usage');
    usage = chunk.usage;
    const choice = chunk.choices[0];
    if (choice === undefined) continue;
    if (finish !== null) throw new Error('a choice after its end');
    finish = choice.finish_reason;
    const { role, content, tool_calls: parts } = choice.delta;
    if (role !== undefined) message.role = role;
    if (typeof content === 'string') message.content = (message.content ?? '') + content;
    for (const part of parts ?? []) {
      const known = calls[part.index];
      if (known !== undefined) known.function.arguments += part.function.arguments;
      else if (part.index !== calls.length) throw new Error('a tool call out of order');
      else {
        const { name = '', arguments: start } = part.function;
        calls.push({ id: part.id ?? '', type: part.type ?? '', function: { name, arguments: start } });
      }
    }
  }
  const { id, created, model } = chunks[0] as Chunk;
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: calls.length > 0 ? { ...message, tool_calls: calls } : message,
        logprobs: null,
        finish_reason: finish,
      },
    ],
    ...(usage == null ? {} : { usage }),
  };
}
