// Tests run on the TypeScript sources; the few that need the built programs build them once in the global set-up.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { realTests } from './scripts/real-tests.js';

/** A file waits for servers and programs half of its time, so three run side by side even where there are two processors. */
const AT_ONCE = Math.max(3, availableParallelism() - 1);

/** These keep the processors busy with many processes of their own, which they kill: two at once, after all others. */
const KILLING = [
  'test/e2e/cluster-chaos.test.ts',
  'test/e2e/killed-batch.test.ts',
  'test/e2e/temporal-killed-worker.test.ts',
  'test/temporal/kills.test.ts',
  'test/temporal/upgrade.test.ts',
];

/**
 * What starts real programs has a process for each file, since it leaves there variables, descriptors, flags and the one
 * runtime of a Temporal worker; and a second try: scripts/test.js.
 */
const REAL = realTests(import.meta.dirname);

/** A module of the product is replaced in these: what they have loaded is for no other file. */
const MOCKED = ['test/engine/states-in-parts.test.ts'];

/** More than a minute each: begun first, so that in the end no worker is alone with one of them. */
const LONGEST = [
  'test/peers/agents-at-work.test.ts',
  'test/images/images.test.ts',
  'test/conformance/work.temporal.test.ts',
  'test/conformance/sandboxes.temporal.test.ts',
  'test/package/installed.test.ts',
  'test/defaults/hungry-batch.test.ts',
  'test/e2e/docker-batch.test.ts',
  'test/testing/temporal.test.ts',
  'test/web/whole-page.test.ts',
  'test/contract/runtime-process.test.ts',
  'test/web/report-page.test.ts',
  'test/conformance/shards.temporal.test.ts',
  'test/peers/three-agents.test.ts',
  'test/conformance/continued.temporal.test.ts',
  'test/conformance/random-jobs.test.ts',
  'test/conformance/conformance.test.ts',
  'test/conformance/probes.test.ts',
  'test/conformance/race.test.ts',
  // After that of images, which has a daemon and services of its own.
  'test/cluster/chart.test.ts',
  ...KILLING,
];

/** The longest files first; then project by project, since a worker goes on with the next file of its own project alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

function rank(file: TestSpecification): number {
  const at = LONGEST.findIndex((longest) => file.moduleId.endsWith(`/${longest}`));
  const project = ['real', 'together', 'killing'].indexOf(file.project.name);
  return at < 0 ? LONGEST.length + project : at;
}

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/global-setup.ts'],
    setupFiles: ['test/helpers/property-seed.ts'],
    // An example takes the built interface as its users do, from Node's own loader.
    server: { deps: { external: [/\/dist\//] } },
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // A bound against hanging, not on speed: a busy machine takes many times what a quiet one does.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 180_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'real',
          include: [...REAL, ...MOCKED],
          exclude: KILLING,
          maxWorkers: AT_ONCE,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: [...REAL, ...MOCKED],
          // A worker keeps what it has loaded: to load the product anew costs more than most of these files.
          isolate: false,
          maxWorkers: AT_ONCE,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'killing',
          include: KILLING,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
