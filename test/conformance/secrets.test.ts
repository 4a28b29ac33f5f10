/** A secret of a conversation wins over that of the defaults (D20), and no driver's trace knows either. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { compileJob } from '../../dsl/compile-job.ts';
import { expectEqual } from './expect-equal.ts';
import { playSimulated } from './play-simulated.ts';
import { D, script } from './script-parts.ts';

const JOB = `kind: job
version: 1
name: secrets
secrets:
  shared: { from: env, name: SHARED_VALUE }
  own: { from: env, name: OWN_VALUE }
defaults:
  model: strong
  secrets: { API_TOKEN: shared }
conversations:
  - { id: as-all, prompt: Do it. }
  - { id: with-its-own, prompt: Do it., secrets: { API_TOKEN: own } }
`;

it('takes the secret that is nearest to the conversation, the same on simulator and embedded engine', async () => {
  const { plan, diagnostics } = compileJob(
    { path: 'job.yaml', text: JOB },
    {
      sha256: (text) => createHash('sha256').update(text, 'utf8').digest('hex'),
      models: ['strong'],
      readFile: () => ({ problem: 'missing' }),
    },
  );
  expect(diagnostics).toEqual([]);
  if (plan === null) throw new Error('there is no plan');
  expect(plan.items.map(({ key, secrets }) => [key, secrets])).toEqual([
    ['as-all', { API_TOKEN: 'shared' }],
    ['with-its-own', { API_TOKEN: 'own' }],
  ]);
  const batch = script('secrets', [[0, { do: 'run', plan }]], { untilMs: D });
  expect(await expectEqual(batch)).toBeGreaterThan(10);
  const { traces } = playSimulated(batch);
  expect(JSON.stringify([...traces.byEntity])).not.toMatch(/API_TOKEN|SHARED_VALUE|OWN_VALUE/);
});
