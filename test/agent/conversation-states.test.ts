/** The states of an agent's conversation as a table: what each command does in each of them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { Harness, userMessage, PATIENT } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';

const STATES = [
  'idle',
  'running',
  'paused',
  'waiting_for_confirmation',
  'finished',
  'error',
  'stuck',
] as const;
type State = (typeof STATES)[number];
type Command = 'run' | 'message' | 'message, run' | 'pause' | 'interrupt' | 'accept' | 'reject' | 'condense';

/** `same` stays; a status is where it goes, through `running` where a run is started; a number refuses. */
const TABLE: Readonly<Record<Command, Readonly<Record<State, State | 'same' | 409>>>> = {
  run: row('same', 409, 'finished', 'finished', 'same', 'finished', 'finished'),
  message: row('same', 'same', 'same', 'same', 'idle', 'same', 'same'),
  'message, run': row('finished', 'finished', 'finished', 'same', 'finished', 'finished', 'finished'),
  pause: row('paused', 'paused', 'same', 'same', 'same', 'same', 'same'),
  interrupt: row('same', 'paused', 'same', 'same', 'same', 'same', 'same'),
  accept: row('same', 'same', 'same', 'finished', 'same', 'same', 'same'),
  reject: row('same', 'same', 'same', 'idle', 'same', 'same', 'same'),
  condense: row('same', 409, 'same', 'same', 'same', 'same', 'same'),
};

function row(...cells: readonly (State | 'same' | 409)[]): Record<State, State | 'same' | 409> {
  return Object.fromEntries(STATES.map((state, at) => [state, cells[at] ?? 'same'])) as ReturnType<
    typeof row
  >;
}

const FINISH = toolCalls(['finish', { message: 'end' }]);

/** Brings a conversation into a state; what the model says from then on ends the run. */
async function inState(state: State): Promise<{ readonly harness: Harness; readonly release: () => void }> {
  const harness = await Harness.start();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const wait = async () => {
    await held;
    return toolCalls(['think', { thought: 'on' }]);
  };
  const touch = toolCalls(['terminal', { command: 'touch acted' }]);
  const opening = {
    idle: [],
    running: [wait],
    paused: [wait],
    waiting_for_confirmation: [touch],
    finished: [reply('done')],
    error: [{ status: 401, json: { error: { message: 'no' } } }],
    stuck: Array.from({ length: 4 }, () => toolCalls(['terminal', { command: 'true' }])),
  }[state];
  harness.llm.script([...opening, FINISH, FINISH], { forever: true });
  const policy = { kind: state === 'waiting_for_confirmation' ? 'AlwaysConfirm' : 'NeverConfirm' };
  const changes = { confirmation_policy: policy };
  if (state === 'idle') await harness.call('POST /api/conversations', { json: harness.startBody(changes) });
  else await harness.run('go', changes);
  if (state === 'running' || state === 'paused')
    await expect.poll(() => harness.llm.requests.length, PATIENT).toBe(1);
  if (state === 'paused') await harness.at('POST /interrupt');
  await harness.reaches(state);
  return { harness, release };
}

async function give(harness: Harness, command: Command): Promise<number> {
  switch (command) {
    case 'run':
      return (await harness.at('POST /run')).status;
    case 'message':
      return (await harness.at('POST /events', userMessage('more', false))).status;
    case 'message, run':
      return (await harness.at('POST /events', userMessage('more', true))).status;
    case 'accept':
    case 'reject':
      return (await harness.at('POST /events/respond_to_confirmation', { accept: command === 'accept' }))
        .status;
    case 'pause':
    case 'interrupt':
    case 'condense':
      return (await harness.at(`POST /${command}`)).status;
    default:
      return command satisfies never;
  }
}

describe.each(STATES)('in %s', (state) => {
  it.each(Object.entries(TABLE).map(([command, cells]) => [command as Command, cells[state]] as const))(
    '%s leads to %s',
    async (command, cell) => {
      const { harness, release } = await inState(state);
      const status = await give(harness, command);
      expect(status).toBe(cell === 409 ? 409 : 200);
      const target = cell === 'same' || cell === 409 ? state : cell;
      // A run at work ends by itself once the model answers; until then it is looked at as it is.
      if (target === 'running') await harness.reaches('running');
      release();
      await harness.reaches(target === 'running' ? 'finished' : target);
      const acted = existsSync(join(harness.workspace, 'acted'));
      const approves = state === 'waiting_for_confirmation' && (command === 'accept' || command === 'run');
      expect(acted).toBe(approves);
    },
  );

  it('comes back from the log as it was; what was at work is told as interrupted', async () => {
    const { harness } = await inState(state);
    await harness.stop();
    await harness.startServer();
    await harness.reaches(state === 'running' ? 'error' : state);
  });
});
