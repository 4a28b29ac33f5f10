/**
 * The Agent Server with the scripted agent of the protocol as a conversation's agent.
 * Owns how that agent is started and what it heard; asserts nothing.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Harness, LLM_KEY } from '../harness.ts';
import type { Answer, EventView } from '../harness.ts';

const PROGRAM = join(import.meta.dirname, 'scripted-agent.js');

export type Step = Readonly<Record<string, unknown>>;
type Heard = Readonly<Record<string, unknown>>;

export interface AcpHarness {
  readonly harness: Harness;
  /** Starts the conversation with a script as its first message. */
  start(
    steps: readonly Step[],
    changes?: Record<string, unknown>,
    agent?: Record<string, unknown>,
  ): Promise<Answer>;
  /** Sends a script as a message, and runs it. */
  send(steps: readonly Step[]): Promise<void>;
  heard(): readonly Heard[];
  /** What it heard of one kind, in order. */
  heardOf<T = Heard>(kind: string): readonly T[];
}

export async function acpHarness(variables: Readonly<Record<string, string>> = {}): Promise<AcpHarness> {
  const harness = await Harness.start();
  const file = join(harness.folder, 'heard.jsonl');
  const heard = (): Heard[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as Heard)
      : [];
  return {
    harness,
    async start(steps, changes = {}, agent = {}) {
      const text = JSON.stringify(steps);
      return await harness.call('POST /api/conversations', {
        json: {
          ...harness.startBody({ initial_message: { role: 'user', content: [{ type: 'text', text }] } }),
          agent: {
            kind: 'ACPAgent',
            llm: { model: 'openai/test-model', api_key: LLM_KEY, base_url: harness.llm.baseUrl },
            acp_command: [process.execPath, PROGRAM],
            acp_env: { ACP_HEARD: file, ACP_SESSIONS: join(harness.folder, 'sessions'), ...variables },
            ...agent,
          },
          ...changes,
        },
      });
    },
    async send(steps) {
      await harness.at('POST /events', { role: 'user', content: JSON.stringify(steps), run: true });
    },
    heard,
    heardOf: <T>(kind: string) => heard().flatMap((record) => (kind in record ? [record[kind] as T] : [])),
  };
}

/** Kinds of events in order, without changes of state and the system prompt. */
export function kindsOf(events: readonly EventView[]): string[] {
  return events
    .map(({ kind }) => kind)
    .filter((kind) => kind !== 'ConversationStateUpdateEvent' && kind !== 'SystemPromptEvent');
}

export function messageText(event: EventView | undefined): string {
  const message = event?.['llm_message'] as
    { readonly content: readonly { readonly text?: string }[] } | undefined;
  return message?.content.map(({ text }) => text ?? '').join('') ?? '';
}
