/** What is typed to get a package that is missing: beside an installation, and in a checkout that was only used so far. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { remedyOfMissing } from '../../cli/missing-part.ts';
import { tempDir } from '../helpers/temp-dir.ts';

function installed(): string {
  const root = tempDir();
  const peerDependencies = {
    dockerode: '5.0.1',
    '@temporalio/client': '1.24.0',
    '@temporalio/worker': '1.24.0',
  };
  writeFileSync(path.join(root, 'package.json'), JSON.stringify({ peerDependencies }));
  return root;
}

const remedy = (root: string, name: string): string | null =>
  remedyOfMissing({ details: { package: name } }, () => path.join(root, 'dist'));

it('is every package of its scope, in the tested versions', () => {
  const root = installed();
  expect(remedy(root, 'dockerode')).toBe('install it beside Parley: npm install dockerode@5.0.1');
  expect(remedy(root, '@temporalio/worker')).toContain('@temporalio/client@1.24.0 @temporalio/worker@1.24.0');
});

it('is the rest of a checkout, with what is built of it', () => {
  const root = installed();
  mkdirSync(path.join(root, '.git'));
  expect(remedy(root, '@temporalio/worker')).toBe('install it beside Parley: npm run build');
  expect(remedy(root, 'left-pad')).toBeNull();
});
