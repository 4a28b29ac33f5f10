/** Breaks the law about arguments of Git on made-up trees. */
import { describe, expect, it } from 'vitest';
import { foreignArguments } from './laws/foreign-arguments.ts';
import { madeUp } from './tree.ts';

const calling = (args: string): string => `execFile('git', ${args});\n`;

describe('arguments of Git on the host', () => {
  it.each([
    ["['fetch', url, commit]", 'url'],
    ["['read-tree', request.base]", 'request.base'],
    ["['cat-file', '-e', `${base}^{commit}`]", '`${base}^{commit}`'],
    ["[...quiet, '--depth=1', commit]", 'commit'],
    ["['log', text, '--end-of-options', other]", 'text'],
  ])('refuses %s', (args, what) => {
    expect(foreignArguments(madeUp({ 'clients/a.ts': calling(args) }))).toEqual([
      `clients/a.ts:1: ${what} may be taken for an option; put '--end-of-options' before it`,
    ]);
  });

  it('takes what stands behind the end of options, or is written here', () => {
    const lists = ["['fetch', '--end-of-options', url]", "['commit-tree', '-p', base, '--', tree]"];
    const ours = ["['status', '--porcelain']", '[`--lease=${ref}`, url]', "['init', `--template=${x}`]"];
    const files = [...lists, ...ours].map((args, index) => [`cli/a${index}.ts`, calling(args)]);
    expect(foreignArguments(madeUp(Object.fromEntries(files) as Record<string, string>))).toEqual([]);
    expect(foreignArguments(madeUp({ 'agent/a.ts': calling("['fetch', url]") }))).toEqual([]);
  });
});
