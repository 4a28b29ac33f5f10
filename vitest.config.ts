// Tests run on the TypeScript sources; the few that need the built programs build them once in the global set-up.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { realTests } from './scripts/real-tests.js';

/** A file waits for servers and programs half of its time, so three run side by side even where there are two processors. */
const AT_ONCE = Math.max(3, availableParallelism() - 1);

/** These keep every processor busy with processes of their own, or kill them: each runs alone, after all others. */
const ALONE = [
  'test/temporal/kills.test.ts',
  'test/temporal/upgrade.test.ts',
  'test/e2e/killed-batch.test.ts',
  'test/e2e/temporal-killed-worker.test.ts',
];

/** Tests of pure folders: nothing of one file can reach another, so a process is not made anew for each of them. */
const PURE = ['test/core/**/*.test.ts', 'test/dsl/**/*.test.ts', 'test/simulator/**/*.test.ts'];

/** What starts real programs has a second try: scripts/test.js. */
const REAL = realTests(import.meta.dirname);

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/global-setup.ts'],
    setupFiles: ['test/helpers/property-seed.ts'],
    // An example takes the built interface as its users do, from Node's own loader.
    server: { deps: { external: [/\/dist\//] } },
    pool: 'forks',
    // A bound against hanging, not on speed: a busy machine takes many times what a quiet one does.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 180_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'real',
          include: REAL,
          exclude: ALONE,
          maxWorkers: AT_ONCE,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: [...REAL, ...PURE],
          maxWorkers: AT_ONCE,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'pure',
          include: PURE,
          exclude: REAL,
          isolate: false,
          maxWorkers: AT_ONCE,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'real alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
