// Tests run on the TypeScript sources; the few that need the built programs build them once in the global set-up.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** A file waits for servers and programs half of its time, so two run side by side even where there are two processors. */
const AT_ONCE = Math.max(2, availableParallelism() - 1);

/** These keep every processor busy with processes of their own, or kill them: each runs alone, after all others. */
const ALONE = [
  'test/temporal/kills.test.ts',
  'test/temporal/upgrade.test.ts',
  'test/e2e/killed-batch.test.ts',
  'test/e2e/temporal-killed-worker.test.ts',
];

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/global-setup.ts'],
    // An example takes the built interface as its users do, from Node's own loader.
    server: { deps: { external: [/\/dist\//] } },
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: ALONE,
          maxWorkers: AT_ONCE,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
