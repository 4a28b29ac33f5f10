// Tests run on the TypeScript sources; the few that need the built programs build them once in the global set-up.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    // An example takes the built interface as its users do, from Node's own loader.
    server: { deps: { external: [/\/dist\//] } },
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
