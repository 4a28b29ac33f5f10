/** The rulings about a conversation's life, one example each (D6 to D18). */
import { describe, expect, it } from 'vitest';
import {
  DELIVERY_ATTEMPTS_MAX,
  PLACEMENT_ATTEMPTS_MAX,
  QUEUED_MESSAGES_MAX,
  START_TASK_TIMEOUT_MS,
} from '../../core/limits.ts';
import { conversationSnapshot } from '../../core/conversation/state.ts';
import { sandboxId } from '../../core/ids.ts';
import { isBrief } from '../../core/machine/resource.ts';
import { SECOND_MS } from '../../core/time.ts';
import * as at from './conversation-life.ts';
import { SPEC } from './sandbox-life.ts';

const { RELEASED, PAUSING, GONE, UP } = at;
const tells = (life: at.ConversationLife) =>
  life.orders.flatMap((order) => (order.type === 'send' ? [order.event.type] : []));

describe('the start (D16, D18)', () => {
  it('goes through its statuses in order', () => {
    const lives = [
      at.placing,
      at.waiting,
      at.preparing,
      at.settingUp,
      at.hooking,
      at.skilling,
      at.opening,
      at.ready,
    ];
    expect(lives.map((live) => live().its.startTask)).toEqual([
      'WORKING',
      'WAITING_FOR_SANDBOX',
      'PREPARING_REPOSITORY',
      'RUNNING_SETUP_SCRIPT',
      'SETTING_UP_GIT_HOOKS',
      'SETTING_UP_SKILLS',
      'STARTING_CONVERSATION',
      'READY',
    ]);
  });

  it('is done with the set-up script at once where the preparation found that there is none', () => {
    const setUp = (given: object) =>
      at
        .preparing()
        .answer('repositoryPrepared', given)
        .orders.flatMap((order) =>
          order.type === 'runSetupScript' ? [[order.isSetUp, isBrief(order)]] : [],
        );
    expect(setUp({ isSetUp: true })).toEqual([[true, true]]);
    expect(setUp({})).toEqual([[undefined, false]]);
  });

  it('places again after a refusal, elsewhere, a bounded number of times', () => {
    const life = at.attaching();
    for (let tried = 1; tried < PLACEMENT_ATTEMPTS_MAX; tried += 1)
      life.attachAnswered(false).placed(sandboxId(String(tried).padStart(32, '2')));
    expect(life.its.excluded).toHaveLength(PLACEMENT_ATTEMPTS_MAX - 1);
    expect(life.attachAnswered(false).its).toMatchObject({ phase: 'startFailed', startTask: 'ERROR' });
  });

  it('polls for a place the more seldom the longer it waits in the line (D29)', () => {
    const life = at.placing();
    const waits = Array.from({ length: 800 }, () => {
      life.answer('placementWaits', { detail: 'capacity', lookAgainMs: SECOND_MS });
      const from = life.now;
      return life.timer().now - from;
    });
    expect([waits[0], waits[30], waits.at(-1)]).toEqual([SECOND_MS, SECOND_MS, 30 * SECOND_MS]);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  });

  it('gives the last place back that was refused, and takes no other', () => {
    const life = at.attaching();
    for (let tried = 1; tried < PLACEMENT_ATTEMPTS_MAX; tried += 1)
      life.attachAnswered(false).placed(sandboxId(String(tried).padStart(32, '2')));
    const last = life.its.sandboxId;
    life.attachAnswered(false);
    expect(life.orders).toContainEqual(
      expect.objectContaining({ type: 'placeConversation', onlyLeaves: true }),
    );
    expect([life.its.excluded.at(-1), life.its.sandboxId]).toEqual([last, null]);
    const late = at.attaching().ask('interruptRequested').attachAnswered(false);
    expect(late.orders).toContainEqual(
      expect.objectContaining({ type: 'placeConversation', onlyLeaves: true }),
    );
  });

  it('deletes the sandbox that refused it when nobody else is in it, whatever came of the placement (D11)', () => {
    const leftBehind = sandboxId('3'.repeat(32));
    const refusal = { code: 'placement_failed', reason: 'r', leftBehind };
    const to = { machine: 'sandbox', id: leftBehind };
    const deletion = expect.objectContaining({
      to,
      event: expect.objectContaining({ type: 'deleteRequested' }),
    });
    const lives = [
      at.placing().answer('placed', { sandboxId: sandboxId('4'.repeat(32)), spec: null, leftBehind }),
      at.placing().answer('placementRefused', refusal),
      at.placing().ask('interruptRequested').answer('placementRefused', refusal),
      at.placing().ask('deleteRequested').answer('placementRefused', refusal),
      at.placing().ask('deleteRequested').answer('placed', { sandboxId: leftBehind, spec: null, leftBehind }),
    ];
    for (const life of lives) expect(life.orders).toContainEqual(deletion);
    expect(tells(at.placing().answer('placementRefused', { ...refusal, leftBehind: undefined }))).toEqual([]);
  });

  it('gives an attachment that a deletion waits for its own time, however late it was asked for', () => {
    const life = at.placing().ask('deleteRequested');
    life.now = (life.its.startDeadline ?? 0) - 1;
    life.placed();
    expect(life.its.startDeadline).toBe(life.now + START_TASK_TIMEOUT_MS);
    const asked = at.attaching();
    asked.now = (asked.its.startDeadline ?? 0) - 1;
    expect(asked.ask('deleteRequested').its.startDeadline).toBe(asked.now + START_TASK_TIMEOUT_MS);
  });

  it('takes no older refusal for the answer to a later request', () => {
    const life = at.attaching();
    const requestId = life.its.attachRequestId ?? '';
    life.attachAnswered(false).placed();
    const { state } = life;
    const sandbox = at.snapshot({});
    expect(life.send({ type: 'attachAnswered', requestId, accepted: false, sandbox }).state).toBe(state);
  });

  it('resumes a released sandbox that was chosen explicitly', () => {
    const life = at.attaching().attachAnswered(true, RELEASED);
    expect(tells(life)).toEqual(['resumeRequested']);
    expect(life.notice({ ...UP, generation: 2 }).its.phase).toBe('preparingRepository');
  });

  it('carries a step out again in the incarnation that came up under it', () => {
    const life = at.hooking().notice(PAUSING).comeBack();
    expect(life.its).toMatchObject({ phase: 'settingUpGitHooks', awaitingGeneration: 2 });
    expect(life.types()).toContain('setUpGitHooks');
  });

  it('still lets the sandbox be born that was made for a start given up meanwhile', () => {
    const life = at.placing().ask('interruptRequested');
    expect(life.its).toMatchObject({ phase: 'startFailed', startTask: 'ERROR' });
    expect(tells(life.answer('placed', { sandboxId: SPEC.sandboxId, spec: SPEC }))).toEqual([
      'attachRequested',
    ]);
  });

  it('keeps showing the sandbox of a start that failed', () => {
    expect(at.startFailed().notice(GONE).its.sandbox?.status).toBe('MISSING');
  });
});

describe('messages (D7)', () => {
  it('delivers in order and exactly once, over a pause and a resume', () => {
    const life = at.idle().notice(RELEASED).message('a');
    expect(tells(life)).toEqual(['resumeRequested']);
    life.message('b').message('a').comeBack();
    expect(life.its.queue.map(({ itemId }) => itemId)).toEqual(['a', 'b']);
    expect(life.types()).toContain('openAgent');
    life
      .answer('agentOpened', { report: life.report('IDLE') })
      .delivered()
      .delivered();
    expect(life.its).toMatchObject({ queue: [], awaiting: null, openGeneration: 2 });
  });

  it('hands a message out again when its sandbox stopped before the agent had confirmed it', () => {
    const life = at.idle().message('a').notice(PAUSING);
    expect(life.types()).toContain('cancelCommand');
    life
      .notice(RELEASED)
      .comeBack()
      .answer('agentOpened', { report: life.report('IDLE') });
    expect(life.orders).toContainEqual(
      expect.objectContaining({ type: 'deliverItem', item: expect.objectContaining({ itemId: 'a' }) }),
    );
  });

  it('refuses with an event when the resume failed for good, and asks again for the next message', () => {
    const life = at.idle().notice(RELEASED).message('a').resumeAnswered('resume_failed', RELEASED);
    expect(life.recorded()).toEqual(['message_refused']);
    expect(tells(life.message('b'))).toEqual(['resumeRequested']);
  });

  it('refuses at once what waits for a sandbox that is being deleted, however long that takes', () => {
    const deleting = { ...PAUSING, transition: 'deleting' } as const;
    const waiting = at.idle().notice(PAUSING).message('a');
    expect(waiting.notice(deleting).recorded()).toEqual(['message_refused']);
    expect(waiting.its).toMatchObject({ queue: [], resumeRequestId: null });
    const late = waiting.message('b');
    expect(late.recorded()).toEqual(['message_refused']);
    expect(tells(late)).toEqual([]);
  });

  it('becomes read-only with a refusal that shows the sandbox gone', () => {
    const life = at.idle().notice(RELEASED).message('a').resumeAnswered('sandbox_missing', GONE);
    expect(life.its.phase).toBe('readOnly');
    expect(life.message('b').recorded()).toEqual(['message_refused']);
  });

  it('refuses an answer to the agent that was accepted, too, and tells nobody of work that nobody asked for', () => {
    const life = at.idle().notice(RELEASED);
    life.send({ type: 'confirmationAnswered', requestId: 'yes', accept: true, reason: '' });
    life.ask('continueRequested');
    expect(life.resumeAnswered('sandbox_missing', GONE).recorded()).toEqual(['message_refused']);
  });

  it('bounds the tries of one message and the length of the queue', () => {
    const life = at.idle().message('a');
    for (let tried = 1; tried < DELIVERY_ATTEMPTS_MAX; tried += 1)
      expect(life.answer('deliveryFailed', { itemId: 'a', reason: 'r' }).recorded()).toEqual([]);
    expect(life.answer('deliveryFailed', { itemId: 'a', reason: 'r' }).recorded()).toEqual([
      'message_refused',
    ]);
    const full = at.preparing();
    for (let n = 1; n < QUEUED_MESSAGES_MAX; n += 1) full.message(`m-${n}`);
    expect(full.message('one more').recorded()).toEqual(['message_refused']);
  });
});

describe('the agent (D6, D14, D15, D28)', () => {
  it('reports work that a stop cut off, and rests in the eyes of its sandbox', () => {
    const life = at.working().notice(PAUSING);
    expect(life.its).toMatchObject({ interrupted: true, agentActivity: 'resting' });
    expect(conversationSnapshot(life.its).settled).toBe(false);
    expect(conversationSnapshot(life.notice(RELEASED).its).settled).toBe(true);
  });

  it('does not call work cut off that ended with the stop', () => {
    expect(at.working().notice(PAUSING).reported('FINISHED').its).toMatchObject({
      interrupted: false,
      executionStatus: 'FINISHED',
    });
  });

  it.each([
    ['on its way down', (life: at.ConversationLife) => life.notice(PAUSING)],
    ['released', (life: at.ConversationLife) => life.notice(PAUSING).notice(RELEASED)],
    [
      'about to come back',
      (life: at.ConversationLife) => life.notice(RELEASED).notice({ ...RELEASED, transition: 'resuming' }),
    ],
  ])('calls work cut off that is reported late, when its sandbox is %s', (_where, stop) => {
    const life = stop(at.idle()).reported('RUNNING');
    expect(life.its).toMatchObject({
      executionStatus: 'RUNNING',
      interrupted: true,
      agentActivity: 'resting',
      watch: null,
    });
    expect(conversationSnapshot(life.notice(RELEASED).its).settled).toBe(true);
  });

  it('takes no report of an older incarnation', () => {
    const life = at.working().notice(RELEASED).comeBack();
    const { state } = life;
    expect(life.reported('ERROR', { generation: 1 }).state).toBe(state);
  });

  it('goes on by itself when its rate limit is over', () => {
    const life = at
      .working()
      .reported('PAUSED', { pausedReason: 'rate_limit', retryAt: at.working().now + 60_000 });
    expect(life.its.agentActivity).toBe('rate_limit');
    expect(life.timer().types()).toContain('deliverItem');
  });

  it('comes back for it from a release by a rule, and not from one that a user asked for', () => {
    const resumes = (life: at.ConversationLife) => tells(life).filter((type) => type === 'resumeRequested');
    const limited = () =>
      at.working().reported('PAUSED', { pausedReason: 'rate_limit', retryAt: at.working().now + 60_000 });
    expect(resumes(limited().notice(RELEASED).timer())).toHaveLength(1);
    const paused = limited()
      .notice({ ...RELEASED, pauseReason: 'user' })
      .timer();
    expect(resumes(paused)).toEqual([]);
    expect(paused.its.queue).toEqual([]);
    const leaving = limited().notice(PAUSING).timer();
    expect(leaving.its.queue).toEqual([]);
    expect(resumes(leaving.notice(RELEASED).timer())).toHaveLength(1);
  });

  it('watches again after an interruption that failed, and meets no limit twice', () => {
    const life = at.working();
    life.send({ type: 'agentLimitReached', commandId: life.its.watch ?? '', limit: 'usd' });
    life.answer('stepFailed', { code: 'agent_unreachable', reason: 'r' });
    expect(life.orders).toContainEqual(
      expect.objectContaining({ type: 'watchAgent', nanoUsdMax: null, noProgressMs: null }),
    );
  });
});

describe('deletion (D11)', () => {
  it('leaves a tombstone that nothing brings back', () => {
    const life = at.deleted();
    const { state } = life;
    expect(tells(life)).toEqual(['detached', 'deleteRequested']);
    expect(life.reported('RUNNING').message().notice(UP).state).toBe(state);
  });

  it('keeps a sandbox that somebody else still uses or the API made', () => {
    expect(tells(at.deleting().answer('conversationRemoved', { sandboxToRemove: false }))).toEqual([
      'detached',
    ]);
  });

  it('first hears where it was placed, so that the sandbox made for it is born and told', () => {
    const life = at.placing().ask('deleteRequested');
    expect(life.types()).toEqual(['project']);
    expect(tells(life.answer('placed', { sandboxId: SPEC.sandboxId, spec: SPEC }))).toEqual([
      'attachRequested',
    ]);
    expect(life.attachAnswered(true).types()).toContain('removeConversation');
    expect(tells(life.answer('conversationRemoved', { sandboxToRemove: true }))).toEqual([
      'detached',
      'deleteRequested',
    ]);
  });
});
