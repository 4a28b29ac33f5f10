/** Starts over several services on Temporal: none is forgotten while its workflow may begin, and none happens twice (D18). */
import { expect, it } from 'vitest';
import { endProcess } from '../helpers/end-process.ts';
import { describeWith } from '../helpers/requires.ts';
import { callServed } from './served.ts';
import { eventually } from './service.ts';
import { openSeveralServices } from './several-services.ts';

const ALL_MS_MAX = 300_000;
const APP = '/api/v1/app-conversations';

describeWith('postgres', 'a start', () => {
  describeWith('temporal', 'that no worker takes', () => {
    it(
      'is pending with its id, outlives the service that took it, and is the same start when it is repeated',
      async () => {
        const { services, key, begin, beginWorker, run } = await openSeveralServices({ count: 2 });
        const [one, other] = services;
        if (one === undefined || other === undefined) throw new Error('there are not two services');
        const call = {
          method: 'POST',
          path: APP,
          headers: { 'idempotency-key': 'the-same' },
          body: { secrets: { TOKEN: 'planted-value' } },
        };
        const starting = callServed(one, key, call);
        await eventually(
          () => run('select stage from start_task'),
          ([row]) => row?.['stage'] === 'sealed',
        );
        // One that begins now leaves the start to the service that has it.
        const third = await begin();
        const told = await starting;
        expect([told.status, told.body.status]).toEqual([200, 'WORKING']);
        await endProcess(one.child);
        const repeated = await callServed(other, key, call);
        expect([repeated.status, repeated.body.id]).toEqual([200, told.body.id]);

        await beginWorker();
        const path = `${APP}/start-tasks?ids=${told.body.id}`;
        const [task] = await eventually(
          async () => (await callServed(third, key, { path })).body,
          ([found]) => found.status === 'READY' || found.status === 'ERROR',
        );
        expect([task.status, task.detail]).toEqual(['READY', null]);
        const again = await callServed(third, key, call);
        expect([again.status, again.body.id]).toEqual([200, told.body.id]);
        expect((await callServed(other, key, { path: `${APP}/count` })).body).toBe(1);
        const [secrets] = await run(
          `select count(*)::int as count from secret where scope like '%${task.app_conversation_id}' and name = 'TOKEN'`,
        );
        expect(secrets?.['count']).toBe(1);
        await eventually(
          () => run('select delivered from start_task'),
          (rows) => rows.length === 1 && rows[0]?.['delivered'] === 1,
        );
      },
      ALL_MS_MAX,
    );
  });
});
