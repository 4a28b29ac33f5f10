/** Breaks the laws about pages, packages and examples on made-up trees. */
import { describe, expect, it } from 'vitest';
import { examplesCompile } from './laws/examples.ts';
import { dependencies } from './laws/packages.ts';
import { ciRunsReadme, commandsExist, foldersMapped, invariantsStated, oneTitle } from './laws/pages.ts';
import { madeUp } from './tree.ts';

describe('pages', () => {
  it('refuses a command that package.json does not have', () => {
    const tree = madeUp({
      'package.json': '{ "scripts": { "start": "x", "format:check": "x" } }',
      'README.md': '# P\n\nnpm start\nnpm run format:check\nnpm run fly\n',
      'CONTRIBUTING.md': '# C\n\nOf three npm packages use `npm ci`, then `npm test`.\n',
    });
    expect(commandsExist(tree)).toEqual([
      'README.md:5: "npm run fly" is no script of package.json',
      'CONTRIBUTING.md:3: "npm run test" is no script of package.json',
    ]);
  });

  it('refuses a CI that ends with another command than the one of the README', () => {
    const readme = '# P\n\n```sh\nnpm test\n```\n';
    expect(ciRunsReadme(madeUp({ 'README.md': readme, '.ci/run': 'npm run lint\nnpm test\n' }))).toEqual([]);
    expect(ciRunsReadme(madeUp({ 'README.md': readme, '.ci/run': 'npx vitest run\n' }))).toEqual([
      '.ci/run: the last line must be "npm test", as in README.md, and is "npx vitest run"',
    ]);
    expect(ciRunsReadme(madeUp({ 'README.md': '# P\n' }))).toEqual([
      'README.md: no line with the test command',
    ]);
  });

  it('refuses a folder that is not mapped, a heading without a folder, and a folder without an invariant', () => {
    const page = '# A\n\n### `core/`\n\n**Invariant:** pure.\n\n### `gone/`\n\nText.\n\n## Next\n';
    const tree = madeUp({ 'ARCHITECTURE.md': page, 'core/a.ts': '', 'store/a.ts': '' });
    expect(foldersMapped(tree)).toEqual([
      'store/: not in the code map of ARCHITECTURE.md',
      'ARCHITECTURE.md:7: there is no folder gone/',
    ]);
    expect(invariantsStated(tree)).toEqual([
      'ARCHITECTURE.md: gone/ has no line that begins with "**Invariant:**"',
    ]);
  });

  it('refuses a page without a title, or with two, and does not read code', () => {
    const tree = madeUp({
      'README.md': '# P\n\n```sh\n# a comment\n```\n',
      'docs/two.md': '# One\n\n# Two\n',
      'docs/none.md': 'Text.\n',
    });
    expect(oneTitle(tree)).toEqual([
      'docs/two.md: 2 titles; a page has one, in its first line',
      'docs/none.md: 0 titles; a page has one, in its first line',
    ]);
  });
});

describe('dependencies()', () => {
  const manifest = JSON.stringify({
    scripts: { format: 'prettier .' },
    dependencies: { zod: '1' },
    devDependencies: { '@types/node': '1', prettier: '1', vitest: '1' },
  });
  const page =
    '# D\n\n| package | reason |\n| - | - |\n| `zod` | x |\n| `@types/node` | x |\n| `prettier`, `vitest` | x |\n';
  const base = {
    'package.json': manifest,
    'docs/dependencies.md': page,
    'dsl/a.ts': `import { z } from 'zod';`,
    'test/a.test.ts': `import { it } from 'vitest';`,
  };
  const check = (files: Record<string, string>) => dependencies(madeUp({ ...base, ...files }));

  it('accepts packages that are explained and used', () => {
    expect(check({})).toEqual([]);
  });

  it('refuses a package without a reason, and a row without a package', () => {
    expect(check({ 'docs/dependencies.md': page.replace('`zod` | x', '`zood` | x') })).toEqual([
      'package.json: "zod" has no row with a reason in docs/dependencies.md',
      'docs/dependencies.md:5: "zood" is no dependency of package.json',
    ]);
  });

  it('refuses a package that nothing imports', () => {
    expect(check({ 'dsl/a.ts': '' })).toEqual([
      'package.json: "zod" is imported and called nowhere; remove it',
    ]);
  });

  it('refuses a development package in a product folder, unless only its types are used', () => {
    const files = {
      'api/a.ts': `import { it } from 'vitest';`,
      'api/b.ts': `import type { T } from 'vitest';`,
    };
    expect(check(files)).toEqual(['api/a.ts:1: "vitest" is not in "dependencies" of package.json']);
  });

  it('lets the console be bundled from development packages, and asks for a row all the same', () => {
    expect(check({ 'web/a.tsx': `import { it } from 'vitest';\nconst a = <b />;` })).toEqual([]);
    const without = page.replace('`prettier`, `vitest`', '`prettier`');
    expect(check({ 'web/a.tsx': `import 'vitest';`, 'docs/dependencies.md': without })).toEqual([
      'package.json: "vitest" has no row with a reason in docs/dependencies.md',
    ]);
  });
});

describe('examplesCompile()', () => {
  it('refuses a job that the language refuses, with line and rule', () => {
    const tree = madeUp({ 'examples/a/job.yaml': 'kind: job\nversion: 1\nname: a\n\tconversations: []\n' });
    expect(examplesCompile(tree)).toEqual([
      expect.stringMatching(/^examples\/a\/job\.yaml:4: .+ \[JOB\d+\]$/),
    ]);
  });

  it('refuses a prompt file that is not there', () => {
    const job =
      'kind: job\nversion: 1\nname: a\nconversations:\n  - id: one\n    prompt: { file: gone.md }\n';
    const violations = examplesCompile(madeUp({ 'examples/a/job.yaml': job }));
    expect(
      violations.filter((one) => one.startsWith('examples/a/job.yaml:6: ') && one.includes('gone.md')),
    ).toHaveLength(1);
  });
});
