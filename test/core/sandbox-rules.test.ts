/** The rulings about a sandbox's life, one example each (D6 to D17). */
import { describe, expect, it } from 'vitest';
import { MAX_SESSION_MS, RESUME_ATTEMPTS_MAX } from '../../core/limits.ts';
import { refusalOf } from '../../core/sandbox/machine.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import * as at from './sandbox-life.ts';

const { FIRST, SECOND } = at;
const told = (life: at.SandboxLife, type: string) =>
  life.orders.flatMap((order) => (order.type === 'send' && order.event.type === type ? [order.event] : []));
const long = (life: at.SandboxLife) => life.types().filter((type) => type !== 'project' && type !== 'send');

describe('agent pauses (D6)', () => {
  it('shows a shared sandbox as PAUSED while one agent waits and none works', () => {
    const life = at.running().attach(SECOND).notice('confirmation');
    expect(life.its).toMatchObject({ phase: 'running', status: 'PAUSED', pauseReason: 'confirmation' });
    expect(life.notice('working', SECOND).its).toMatchObject({ status: 'RUNNING', pauseReason: null });
    expect(life.notice('rate_limit', SECOND).its.pauseReason).toBe('confirmation');
    expect(life.notice('resting').its.pauseReason).toBe('rate_limit');
  });

  it('still idles out, and still meets the cap', () => {
    const waiting = at.running().notice('confirmation');
    expect(
      waiting.answer('idleReached', { lastActivityAt: 0, lookedAt: waiting.now }).its.releaseReason,
    ).toBe('idle');
    expect(at.running().notice('confirmation').timer().its.releaseReason).toBe('session_limit');
  });

  it('starts the Deletion Time only with a release', () => {
    expect(at.running().notice('confirmation').its.releasedAt).toBeNull();
    const life = at.released();
    expect(life.its.releasedAt).toBe(life.now);
  });
});

describe('limits (D10)', () => {
  it('pauses an idle sandbox exactly at the Idle Time and not a millisecond before', () => {
    const life = at.running();
    const lastActivityAt = life.now;
    const lookedAt = lastActivityAt + at.IDLE_MS;
    life.answer('idleReached', { lastActivityAt, lookedAt }, at.IDLE_MS - 1);
    expect(life.its.phase).toBe('running');
    expect(life.answer('idleReached', { lastActivityAt, lookedAt }, 1).its.phase).toBe('pausing');
  });

  it('looks again when the look is old, or an agent took up work since', () => {
    const quiet = { lastActivityAt: 0 };
    const old = at.running();
    old.answer('idleReached', { ...quiet, lookedAt: old.now }, MINUTE_MS + 1);
    expect(old.its.phase).toBe('running');
    expect(old.answer('idleReached', { ...quiet, lookedAt: old.now }, MINUTE_MS).its.phase).toBe('pausing');
    const busy = at.running();
    const lookedAt = busy.now;
    busy.notice('working').answer('idleReached', { ...quiet, lookedAt }, SECOND_MS);
    expect(busy.its.phase).toBe('running');
    expect(busy.answer('idleReached', { ...quiet, lookedAt: busy.now }).its.phase).toBe('pausing');
  });

  it('pauses a working sandbox at 12 hours, counted from its boot', () => {
    const life = at.running();
    const booted = life.now;
    life.notice('working').timer();
    expect(life.now - booted).toBe(MAX_SESSION_MS);
    expect(life.its).toMatchObject({ phase: 'pausing', releaseReason: 'session_limit' });
  });

  it('pauses a working sandbox that its host took away, and brings it back when it is needed', () => {
    const life = at.running().notice('working').answer('runtimeEvicted');
    expect(life.its).toMatchObject({ phase: 'pausing', releaseReason: 'capacity', watch: null });
    life.answer('sandboxStopped');
    expect(life.its).toMatchObject({ phase: 'released', status: 'PAUSED', pauseReason: 'capacity' });
    expect(life.resume().its.phase).toBe('reserving');
  });

  it('takes no heed of an eviction that another watch saw', () => {
    const life = at.running();
    life.send({ type: 'runtimeEvicted', commandId: `${life.its.watch ?? ''}-earlier` });
    expect(life.its.phase).toBe('running');
  });

  it('counts the session of one from the warm pool from its boot, and the next one from its resume', () => {
    const warm = (earlierMs: number) => {
      const life = new at.SandboxLife({ ...at.SPEC, bootedAt: 0 });
      const bootedAt = life.now - earlierMs;
      return { life: life.answer('sandboxReady', { bootedAt }), bootedAt };
    };
    const { life, bootedAt } = warm(MINUTE_MS);
    expect(life.its).toMatchObject({ phase: 'running', sessionStartedAt: bootedAt });
    life.notice('working').timer();
    expect(life.now - bootedAt).toBe(MAX_SESSION_MS);
    expect(life.its.releaseReason).toBe('session_limit');
    life.answer('sandboxStopped').resume().answer('slotGranted').answer('sandboxReady');
    expect(life.its.sessionStartedAt).toBe(life.now);
    // A clock that was set back since must not make the session longer.
    const later = warm(-MINUTE_MS);
    expect(later.life.its.sessionStartedAt).toBe(later.life.now);
  });

  it('tells the start of one from the warm pool since when it is up, and that of a new one nothing', () => {
    const created = (life: at.SandboxLife) => life.orders.filter(({ type }) => type === 'createSandbox');
    expect(created(new at.SandboxLife({ ...at.SPEC, bootedAt: 7 }))).toMatchObject([{ bootedAt: 7 }]);
    const [cold] = created(new at.SandboxLife());
    expect(cold).not.toHaveProperty('bootedAt');
  });

  it('opens a new window only by a resume that succeeds', () => {
    expect(at.resuming().answer('sandboxReady').its.sessionStartedAt).not.toBeNull();
    const failed = at.resumingLastTry().answer('sandboxFailed', { reason: 'boot' });
    expect(failed.its).toMatchObject({ phase: 'pausing', status: 'PAUSED', sessionStartedAt: null });
    const before = failed.its.releasedAt;
    expect(failed.answer('sandboxStopped').its).toMatchObject({ phase: 'released', releasedAt: before });
  });

  it('opens no window when it is up already', () => {
    const life = at.running();
    const { sessionStartedAt } = life.its;
    expect(life.resume().its.sessionStartedAt).toBe(sessionStartedAt);
    expect(told(life, 'resumeAnswered')).toMatchObject([{ refusal: null }]);
  });
});

describe('wishes while something is under way (D8)', () => {
  it('pauses as soon as it has booted, and watches nothing', () => {
    const life = at.starting().pause().answer('sandboxReady');
    expect(life.its).toMatchObject({ phase: 'pausing', watch: null });
    expect(life.types()).not.toContain('watchIdle');
  });

  it('resumes as soon as it has stopped', () => {
    expect(long(at.pausing().resume().answer('sandboxStopped'))).toEqual(['reserveSlot']);
  });

  it('drops a resume when a pause is wished after it, and says so', () => {
    const life = at.pausing().resume().pause();
    expect(told(life, 'resumeAnswered')).toMatchObject([{ refusal: 'resume_failed' }]);
    expect(life.answer('sandboxStopped').its.phase).toBe('released');
  });

  it('answers who waited with the state as it is, never two states of one stamp', () => {
    const life = at.resuming().pause().answer('sandboxReady');
    const [answer] = told(life, 'resumeAnswered');
    const [notice] = told(life, 'sandboxNoticed');
    expect(answer).toMatchObject({ refusal: null, sandbox: { usable: false } });
    expect(answer && 'sandbox' in answer && answer.sandbox).toEqual(
      notice && 'sandbox' in notice && notice.sandbox,
    );
  });

  it('refuses at the edge what ERROR and MISSING do not allow', () => {
    const statuses = ['RUNNING', 'ERROR', 'MISSING'] as const;
    expect(statuses.map((status) => refusalOf({ status }, 'resume'))).toEqual([
      null,
      'sandbox_error',
      'sandbox_missing',
    ]);
    expect(statuses.map((status) => refusalOf({ status }, 'delete'))).toEqual([null, null, null]);
  });
});

describe('deletion (D11, D12, D14)', () => {
  it('stops, archives, removes, in this order', () => {
    const life = at.stopping();
    expect(long(life)).toEqual(['cancelCommand', 'stopSandbox']);
    expect(long(life.answer('sandboxStopped'))).toEqual(['archiveWorkspace', 'offerRoom']);
    expect(long(life.answer('workspaceArchived'))).toEqual(['destroySandbox']);
    expect(life.answer('sandboxDestroyed').its).toMatchObject({ status: 'MISSING', archive: 'stored' });
  });

  it('tells its conversations that it leaves and that it has gone, and none of the steps between', () => {
    const life = at.stopping();
    expect(told(life, 'sandboxNoticed')).toMatchObject([{ sandbox: { usable: false } }]);
    expect(told(life.answer('sandboxStopped'), 'sandboxNoticed')).toEqual([]);
    // Told or not, the number is used up: in a history of an older build the next command has the one after it.
    const { commandCount } = life.its;
    expect(told(life.answer('workspaceArchived'), 'sandboxNoticed')).toEqual([]);
    expect(life.its.commandCount).toBe(commandCount + 3);
    const gone = told(life.answer('sandboxDestroyed'), 'sandboxNoticed');
    expect(gone).toMatchObject([{ sandbox: { status: 'MISSING' } }]);
  });

  it('tells them when a deletion by its timer is put off', () => {
    const life = at.archivingByTimer();
    const again = at.failArchive(at.failArchive(at.failArchive(life)));
    expect(told(again, 'sandboxNoticed')).toMatchObject([{ sandbox: { transition: null } }]);
  });

  it('goes on after archive_failed when a user asked, and waits when a timer did', () => {
    const fail = (life: at.SandboxLife) => at.failArchive(at.failArchive(at.failArchive(life)));
    expect(fail(at.archiving()).its).toMatchObject({ phase: 'destroying', archive: 'archive_failed' });
    const timed = fail(at.archivingByTimer());
    expect(timed.its).toMatchObject({ phase: 'released', archive: 'archive_failed' });
    expect(timed.timer().its.phase).toBe('archiving');
  });

  it('is not undone by a resume in flight', () => {
    const life = at.resuming();
    const late = life.its.awaiting ?? '';
    life.remove();
    expect(told(life, 'resumeAnswered')).toMatchObject([{ refusal: 'sandbox_missing' }]);
    const { state } = life;
    expect(life.send({ type: 'sandboxReady', commandId: late }).state).toBe(state);
  });

  it('starts no second removal for a repeated request, and leaves ERROR only by one', () => {
    const life = at.stopping();
    expect(long(life.remove())).toEqual([]);
    expect(at.errorEmpty().its.status).toBe('ERROR');
    expect(at.errorEmpty().remove().its.status).toBe('MISSING');
  });
});

describe('failures (D13)', () => {
  it('counts an unreachable runtime as stale, and nothing else', () => {
    const life = at.running().answer('runtimeUnknown');
    expect(life.its).toMatchObject({ phase: 'running', status: 'RUNNING', stale: true });
    expect(life.answer('runtimeAnswered').its.stale).toBe(false);
  });

  it('archives what is left of a dead sandbox whose runtime is gone altogether', () => {
    expect(at.errorStopping().answer('runtimeGone').its).toMatchObject({
      phase: 'errorArchiving',
      status: 'ERROR',
    });
  });

  it('bounds the tries of one resume, each an incarnation of its own (D14)', () => {
    const life = at.resumingLastTry();
    expect(life.its.generation).toBe(1 + RESUME_ATTEMPTS_MAX);
    life.answer('sandboxFailed', { reason: 'boot' });
    expect(told(life, 'resumeAnswered')).toMatchObject([{ refusal: 'resume_failed' }]);
    expect(long(life)).toEqual(['stopSandbox']);
  });
});

describe('attachment and capacity (D16, D17)', () => {
  it('answers a repeat as it answered before, also while it leaves: nobody is in two sandboxes', () => {
    const answers = (life: at.SandboxLife) => told(life, 'attachAnswered');
    expect(answers(at.running().send({ type: 'deleteRequested', requestId: 'd' }).attach())).toMatchObject([
      { accepted: true, sandbox: { usable: false } },
    ]);
    expect(
      answers(at.running().send({ type: 'deleteRequested', requestId: 'd' }).attach(SECOND)),
    ).toMatchObject([{ accepted: false }]);
  });

  it('lets only an explicit choice into a sandbox that is not up', () => {
    expect(told(at.released().attach(SECOND), 'attachAnswered')).toMatchObject([{ accepted: false }]);
    expect(told(at.released().attach(SECOND, true), 'attachAnswered')).toMatchObject([{ accepted: true }]);
  });

  it('never takes a working agent’s sandbox to make room', () => {
    expect(at.running().notice('working').pause('capacity').its.phase).toBe('running');
    expect(at.running().notice('resting').pause('capacity').its.phase).toBe('pausing');
  });

  it('gives its slot back with the write that shows it released', () => {
    const rows = (life: at.SandboxLife) =>
      life.orders.flatMap((order) =>
        order.type === 'project' ? order.rows.map(({ holdsSlot }) => holdsSlot) : [],
      );
    expect([rows(at.pausing()), rows(at.released()), rows(at.missing())]).toEqual([[true], [false], [false]]);
    expect(told(at.reserving().answer('slotRefused', { reason: 'full' }), 'resumeAnswered')).toMatchObject([
      { refusal: 'concurrency_limit_reached' },
    ]);
  });

  it('polls for a slot the more seldom the longer its resume waits in the line (D29)', () => {
    const life = at.reserving();
    const waits = Array.from({ length: 800 }, () => {
      life.answer('slotWaits', { detail: 'capacity', lookAgainMs: SECOND_MS });
      const from = life.now;
      return life.timer().now - from;
    });
    expect([waits[0], waits[30], waits.at(-1)]).toEqual([SECOND_MS, SECOND_MS, 30 * SECOND_MS]);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  });

  it('takes nobody in again who has left, whenever the message about it comes', () => {
    const answers = (life: at.SandboxLife) => told(life, 'attachAnswered').map((event) => event);
    const late = at.running().send({ type: 'detached', conversationId: FIRST }).attach(FIRST);
    expect(answers(late)).toMatchObject([{ accepted: false }]);
    expect(late.its.attached).toEqual({});
    const overtaken = at.running().send({ type: 'detached', conversationId: SECOND }).attach(SECOND, true);
    expect(answers(overtaken)).toMatchObject([{ accepted: false }]);
    expect(Object.keys(overtaken.its.attached)).toEqual([FIRST]);
  });

  it('forgets what a conversation that left was up to', () => {
    const life = at.running().attach(SECOND).notice('confirmation');
    expect(life.send({ type: 'detached', conversationId: FIRST }).its.status).toBe('RUNNING');
  });
});
