/**
 * `npm run release`: the package, its bill of materials and their hashes, in dist/release/, ready to be published.
 * Refuses a tree with changes, because the package says which commit it was made of. Publishing is for a person or a
 * workflow with the right to it: `npm publish --provenance dist/release/parley-VERSION.tgz`.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './setup.js';

const OUT = path.join(ROOT, 'dist', 'release');
const said = (command, args) =>
  execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 });

if (said('git', ['status', '--porcelain']) !== '') {
  process.stderr.write('Cannot make a release: the tree has changes; commit or stash them\n');
  process.exit(2);
}
rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
said('npm', ['pack', '--silent', '--pack-destination', OUT]);
writeFileSync(
  path.join(OUT, 'sbom.cdx.json'),
  said('npm', ['sbom', '--omit=dev', '--sbom-format=cyclonedx', '--package-lock-only']),
);
const hashes = readdirSync(OUT).map((file) => {
  const hash = createHash('sha256')
    .update(readFileSync(path.join(OUT, file)))
    .digest('hex');
  return `${hash}  ${file}\n`;
});
writeFileSync(path.join(OUT, 'SHA256SUMS'), hashes.join(''));
process.stdout.write(hashes.join(''));
