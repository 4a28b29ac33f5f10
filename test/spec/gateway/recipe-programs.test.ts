/** The recipes as a user runs them: examples/recipes/main.js with `parley proxy` as its own process. */
import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyBatch, type BatchCopy } from '../../e2e/batch-copy.ts';
import { RECIPES } from './recipe-chain.ts';

interface Shown {
  readonly model: string;
  readonly user: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Two programs start and end in each. */
const PLAY_MS_MAX = 600_000;

async function play(copy: BatchCopy, recipe: string): Promise<readonly Shown[]> {
  const program = path.join(copy.root, 'examples/recipes/main.js');
  const { stdout } = await promisify(execFile)(process.execPath, [program, recipe], { env: copy.env });
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Shown);
}

const bearer = (name: string): string => `Bearer <${name}>`;

describe('node examples/recipes/main.js', () => {
  let copy: BatchCopy;
  // A copy has its own programs, which no build replaces in the meantime.
  beforeAll(() => {
    copy = copyBatch('none');
    cpSync(RECIPES, path.join(copy.root, 'examples/recipes'), { recursive: true });
  });
  afterAll(() => copy.close());

  it.each([
    [
      'team-keys',
      [
        { authorization: bearer('PARLEY_GATEWAY_KEY_RED') },
        { authorization: bearer('PARLEY_GATEWAY_KEY_BLUE') },
      ],
    ],
    ['profile-headers', [{ 'x-user-id': 'ada' }, { 'x-user-id': 'bob' }]],
    [
      'static-headers',
      [{ 'x-gateway-tenant': 'engineering', 'x-gateway-auth-token': '<PARLEY_GATEWAY_TENANT_TOKEN>' }],
    ],
    ['spend-metadata', [{ 'x-proxyvendor-spend-logs-metadata': '{"user":"ada","project":"search"}' }]],
    [
      'team-keys-and-profiles',
      [
        { authorization: bearer('PARLEY_GATEWAY_KEY_RED'), 'x-user-id': 'ada' },
        { authorization: bearer('PARLEY_GATEWAY_KEY_BLUE'), 'x-user-id': 'bob' },
      ],
    ],
  ])(
    '%s shows what the gateway sees',
    async (recipe, headers) => {
      const shown = await play(copy, recipe);
      expect(shown).toMatchObject(
        headers.map((one) => ({ model: 'acme/coder-1', user: null, headers: one })),
      );
      expect(JSON.stringify(shown)).not.toMatch(/sk-|stainless/);
    },
    PLAY_MS_MAX,
  );
});
