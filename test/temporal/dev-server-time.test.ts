/** The server that skips time, as the tests of the Temporal engine use it. */
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import { registerSearchAttributes } from '../../temporal/search-attributes.ts';
import { SEARCH_ATTRIBUTES, STATUS } from '../../workflows/search-attributes.ts';
import { describeWith } from '../helpers/requires.ts';
import { requireTestServer } from '../helpers/temporal-tools.ts';

describeWith('temporal-test-server', 'the time-skipping test server', () => {
  it('starts, skips an hour at once, and takes search attributes', async () => {
    const executable = { type: 'existing-path', path: requireTestServer() } as const;
    const env = await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
    try {
      const before = await env.currentTimeMs();
      await env.sleep('1 hour');
      expect((await env.currentTimeMs()) - before).toBeGreaterThanOrEqual(3_600_000);
      const names = SEARCH_ATTRIBUTES.map(({ name }) => name);
      expect(await registerSearchAttributes(env.connection, 'default')).toEqual(names);
      expect(await registerSearchAttributes(env.connection, 'default')).toEqual([]);
      const { workflow } = env.client;
      await workflow.start('nobody', {
        workflowId: 'a',
        taskQueue: 'q',
        typedSearchAttributes: [{ key: STATUS, value: 'RUNNING' }],
      });
    } finally {
      await env.teardown();
    }
  });
});
