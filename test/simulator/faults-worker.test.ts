/** Each fault of the worker shows its effect once, by schedule, and nothing is broken by it after the world has healed. */
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { FaultName } from '../../simulator/faults/catalogue.ts';
import { CLOCK_OFF_MAX_MS, DOWN, LEASE_MS, UPGRADE } from '../../simulator/faults/figures.ts';
import { NO_FAULTS } from '../../simulator/faults/injector.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { BUSY, start } from '../conformance/script-parts.ts';
import { commandId, instants, outline, play, type Play } from './stage-plays.ts';

const plain = play(NO_FAULTS);
const boot = commandId(plain, 'createSandbox');
const delivery = commandId(plain, 'deliverItem');
const watch = commandId(plain, 'watchAgent');
const stop = commandId(plain, 'stopSandbox');
const [readyAt = 0] = instants(plain, 'sandboxReady');

function struck(key: string): Play {
  const played = play([key]);
  expect(played.injected.map(({ fault, where }) => `${fault}@${where}`)).toEqual([key]);
  expect(played.stage.violations).toEqual([]);
  return played;
}

function sandboxReadyIn({ steps }: Play) {
  const step = steps.find(({ event }) => event.type === 'sandboxReady');
  return { at: step?.at ?? 0, state: step?.after as SandboxState };
}

describe('faults of the worker', () => {
  it.each([
    [`worker_crash_before_commit@answer/${boot}/1`, DOWN],
    [`worker_crash_after_commit@${boot}/1`, DOWN],
    [`worker_crash_in_activity@${boot}/1/1`, DOWN],
    [`worker_rolling_upgrade@${boot}/1`, UPGRADE],
    [`worker_zombie@${boot}/1`, { minMs: LEASE_MS, maxMs: LEASE_MS }],
  ])('%s: the boot is ordered again, and comes later', (key, { minMs, maxMs }) => {
    const [at = 0] = instants(struck(key), 'sandboxReady');
    const bootMs = 4 * SECOND_MS;
    expect(at).toBeGreaterThanOrEqual(readyAt + minMs - bootMs);
    expect(at).toBeGreaterThan(readyAt);
    expect(at).toBeLessThanOrEqual(readyAt + maxMs + bootMs);
  });

  it('worker_crash_in_activity: a message handed over before the crash is not handed over again', () => {
    const played = struck(`worker_crash_before_commit@answer/${delivery}/1`);
    expect(instants(played, 'itemDelivered')[0]).toBeGreaterThan(instants(plain, 'itemDelivered')[0] ?? 0);
    expect([...played.stage.world.delivered.values()]).toEqual([1, 1, 1]);
  });

  it('worker_crash_before_commit: a client sees an error and asks again with the same id', () => {
    const key = `worker_crash_before_commit@client/messageReceived/${delivery.slice(0, delivery.indexOf('#'))}/1`;
    const played = struck(key);
    const [first = 0, second] = instants(played, 'messageReceived');
    expect(first).toBeGreaterThan(30 * MINUTE_MS + SECOND_MS);
    expect(second).toBe(60 * MINUTE_MS);
    expect([...played.stage.world.delivered.values()]).toEqual([1, 1, 1]);
  });

  it('worker_two_leaders: the second to carry a command out changes nothing', () => {
    const played = struck(`worker_two_leaders@${delivery}/1`);
    expect(outline(played)).toEqual(outline(plain));
    expect([...played.stage.world.delivered.values()]).toEqual([1, 1, 1]);
  });

  it('worker_rolling_upgrade: what a successor takes over plans no next upgrade', () => {
    const [first, second] = [`worker_rolling_upgrade@${boot}/1`, `worker_rolling_upgrade@${boot}/2`];
    const played = play([first, second]);
    expect(played.injected.map(({ fault, where }) => `${fault}@${where}`)).toEqual([first]);
    expect(instants(played, 'sandboxReady')).toHaveLength(instants(plain, 'sandboxReady').length);
  });

  it('worker_zombie: a stop that comes hours late reaches no later incarnation', () => {
    const played = struck(`worker_zombie@${stop}/1`);
    expect(instants(played, 'sandboxStopped')[0]).toBe(
      (instants(plain, 'sandboxStopped')[0] ?? 0) + LEASE_MS,
    );
    expect(outline(played)).toEqual(outline(plain));
  });

  it('worker_crash_in_activity: the watch on an agent is begun again', () => {
    const played = struck(`worker_crash_in_activity@${watch}/1/1`);
    expect(instants(played, 'agentReported')).toEqual(instants(plain, 'agentReported'));
  });

  it.each<[FaultName, 1 | -1 | 0]>([
    ['worker_clock_skew', 0],
    ['worker_clock_jump_forward', 1],
    ['worker_clock_jump_back', -1],
  ])('%s: machines read another time, and no more than minutes off', (fault, sign) => {
    const { at, state } = sandboxReadyIn(struck(`${fault}@${boot}/1`));
    const offMs = (state.sessionStartedAt ?? 0) - at;
    expect(offMs).not.toBe(0);
    expect(Math.abs(offMs)).toBeLessThanOrEqual(CLOCK_OFF_MAX_MS);
    if (sign !== 0) expect(Math.sign(offMs)).toBe(sign);
  });

  it('a session under a clock that is off ends at its twelfth hour, give or take how far it is off', () => {
    const busy = { models: BUSY, life: [[0, start('a')]] as const, healMs: 20 * HOUR_MS };
    const quiet = play(NO_FAULTS, busy);
    const off = play([`worker_clock_jump_back@${commandId(quiet, 'deliverItem')}/1`], busy);
    expect(off.stage.violations).toEqual([]);
    const capAt = ({ steps }: Play) =>
      steps.find(({ address, event }) => address.machine === 'sandbox' && event.type === 'deadline')?.at ?? 0;
    expect(Math.abs(capAt(off) - capAt(quiet))).toBeLessThanOrEqual(CLOCK_OFF_MAX_MS);
  });
});
