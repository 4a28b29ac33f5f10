/** Races over `parley serve` with real sandboxes and our Agent Server in them: nothing is lost, doubled or left running. */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { placesOf } from '../../host/sandboxes/places.ts';
import { openStore } from '../../store/open-store.ts';
import { leftProcesses } from '../e2e/process-list.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { lateAgent, waitsUpTo } from './race-means.ts';
import { RACES, runRaces, type RaceName, type Racetrack } from './races.ts';
import { callServed, serve, type Served } from './served.ts';

/** Repetitions of each race; 50 is the long form. */
const TIMES = Number(process.env['PARLEY_TEST_PROCESS_RACES'] ?? 2);
/** Each has sandboxes that boot: more would only wait for the processors. */
const AT_ONCE = 2;
/** A sandbox boots and stops within some tenths of a second; callers begin within this. */
const WAIT_MS_MAX = 300;
const INSTALLATION_MAX = 100;
const USER = (number: number): string => `runner-${number}`;

describeWith('bwrap', 'in namespaces', () => {
  it.each(Object.keys(RACES) as RaceName[])(
    `${TIMES} times %s`,
    async (name) => {
      const folder = tempDir();
      const served = await serve(folder, { config: configOf(name) });
      const { track, users, failures } = racetrack(served, folder);
      await runRaces(track, name, { times: TIMES, atOnce: AT_ONCE });
      expect(failures).toEqual([]);
      expect(await served.end('SIGTERM'), served.notices()).toBe(0);
      expect(await leftProcesses(folder)).toEqual([]);
      await expectNothingTaken(folder, users());
    },
    3_000_000,
  );
});

const configOf = (name: RaceName): string => `runtime: { isolation: namespaces }
limits: { idle_time: 0 }
capacity: { sandboxes: ${INSTALLATION_MAX}, sandboxes_per_user: ${RACES[name].room} }
`;

interface ServedTrack {
  readonly track: Racetrack;
  users(): readonly string[];
  /** Answers that are none: the service failed by itself. */
  readonly failures: readonly string[];
}

function racetrack(served: Served, folder: string): ServedTrack {
  const socketPath = placesOf(path.join(realpathSync(folder), 'data')).webhookSocket;
  const admin = served.key ?? '';
  const failures: string[] = [];
  let users = 0;
  const call: Racetrack['call'] = async (one) => {
    const answer = await callServed(served, admin, one);
    if (answer.status >= 500) failures.push(`${one.method ?? 'GET'} ${one.path}: ${answer.text}`);
    return answer;
  };
  return {
    users: () => Array.from({ length: users }, (_, index) => USER(index + 1)),
    failures,
    track: {
      call,
      jitter: waitsUpTo(WAIT_MS_MAX),
      async newUser() {
        const body = { user_id: USER((users += 1)) };
        const answer = await call({ method: 'POST', path: '/api/keys', body });
        return answer.body.key as string;
      },
      callBack: lateAgent(socketPath),
    },
  };
}

/** From the records that the service has left: no slot is held by what is gone. */
async function expectNothingTaken(folder: string, users: readonly string[]): Promise<void> {
  const store = await openStore({ kind: 'sqlite', path: placesOf(path.join(folder, 'data')).database });
  onTestFinished(() => store.close());
  for (const user of users)
    expect(await store.search.slotsTaken(user as never)).toEqual({ user: 0, installation: 0 });
}
