/** What a conversation says to its watcher: what that acts on, and not each step of its start. */
import { expect, it } from 'vitest';
import { runId } from '../../core/ids.ts';
import { ConversationLife, GONE, UP } from './conversation-life.ts';

const watched = (): ConversationLife => new ConversationLife({}, { machine: 'run', id: runId('r') });

/** Of the latest step; empty when it said nothing. */
function said(life: ConversationLife): string {
  return life.orders
    .flatMap((order) =>
      order.type === 'send' && order.event.type === 'conversationNoticed' ? order.event : [],
    )
    .map(({ conversation: { startTask, sandboxStatus, executionStatus, settled } }) =>
      [startTask, sandboxStatus, executionStatus, settled ? 'settled' : 'busy'].join(' '),
    )
    .join();
}

function start(life: ConversationLife): readonly string[] {
  return [
    said(life.placed()),
    said(life.attachAnswered(true)),
    said(life.notice(UP)),
    said(life.answer('repositoryPrepared')),
    said(life.answer('setupScriptRan')),
    said(life.answer('gitHooksSetUp')),
    said(life.answer('skillsSetUp')),
    said(life.answer('agentOpened', { report: life.report('IDLE') })),
  ];
}

it('says that its sandbox has spoken and is up, and that it is READY once its first message is delivered', () => {
  const life = watched();
  expect(start(life)).toEqual([
    '',
    'WAITING_FOR_SANDBOX STARTING  busy',
    'PREPARING_REPOSITORY RUNNING  busy',
    ...['', '', '', '', ''],
  ]);
  expect(said(life.delivered())).toBe('READY RUNNING RUNNING busy');
  expect(said(life.reported('FINISHED'))).toBe('READY RUNNING FINISHED settled');
  expect(said(life.notice(GONE))).toBe('READY MISSING FINISHED settled');
});

it('says READY at once when nothing waits for the agent, and when the first message was refused', () => {
  const idle = new ConversationLife({ initialMessage: null }, { machine: 'run', id: runId('r') });
  expect(start(idle).at(-1)).toBe('READY RUNNING IDLE settled');
  expect(said(idle.message())).toBe('READY RUNNING IDLE busy');

  const refused = watched();
  start(refused);
  expect(said(refused.ask('interruptRequested'))).toBe('');
  expect(said(refused.answer('agentInterrupted'))).toBe('READY RUNNING IDLE settled');
});

it('says that its start has failed, and what becomes of its sandbox before its agent has begun', () => {
  const failed = watched().placed().attachAnswered(true).notice(UP);
  expect(said(failed.answer('stepFailed', { code: 'repository_failed', reason: 'r' }))).toBe(
    'ERROR RUNNING  settled',
  );
  const lost = watched();
  start(lost);
  expect(said(lost.notice(GONE))).toBe('READY MISSING IDLE settled');
});
