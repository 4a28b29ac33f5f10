/**
 * `npm run release`: the package, its bill of materials and their hashes, in dist/release/.
 * With `--name @SCOPE/parley` the package can be published, under a name that its publisher owns: `parley` itself is
 * another project's at npm, and is therefore private here. `--repository URL` is where a provenance statement says that
 * it was made. The publication is rehearsed, and is for a workflow with the right to it. `--from FILE` takes a package
 * that is packed already.
 * Refuses a tree with changes, because the package says which commit it was made of; `--rehearse` lets that pass.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  existsSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './setup.js';

/** Where the bundlers leave the terms of what they took, and how each names a package, its version and its licence. */
const BUNDLED = {
  'dist/licences.txt': /^((?:@[^/\s]+\/)?[^/\s]+) (\d\S*) \(([^)]+)\)$/gm,
  'dist/web/licences.md': /^## ((?:@[^/\s]+\/)?[^/\s]+) - (\d\S*) \(([^)]+)\)$/gm,
};

/** A text; `folder` is an unpacked package with its lock file. */
function billOfMaterials(folder) {
  const args = ['sbom', '--omit=dev', '--sbom-format=cyclonedx', '--package-lock-only'];
  const text = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX });
  const bill = JSON.parse(text);
  const known = new Set(bill.components.map(({ purl }) => purl));
  for (const component of bundledIn(folder)) {
    if (known.has(component.purl)) continue;
    known.add(component.purl);
    bill.components.push(component);
  }
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function bundledIn(folder) {
  return Object.entries(BUNDLED).flatMap(([name, pattern]) => {
    const file = path.join(folder, name);
    if (!existsSync(file))
      throw new Error(`Cannot write the bill of materials: ${name} is not in the package`);
    return [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, called, version, licence]) => ({
      'bom-ref': `bundled:${called}@${version}`,
      type: 'library',
      name: called,
      version,
      scope: 'required',
      purl: `pkg:npm/${called.replace('@', '%40')}@${version}`,
      licenses: [licence.includes(' ') ? { expression: licence } : { license: { id: licence } }],
      properties: [{ name: 'parley:bundled', value: name }],
    }));
  });
}

/** What CHANGELOG.md must have for a version, so that a reader knows what is in a package. */
const HEADING = (version) => `\n## ${version}`;
/** A package is public, and says where it was made. */
const PUBLISHING = { access: 'public', provenance: true };
const OUTPUT_BYTES_MAX = 64 * 1024 ** 2;

const options = {
  name: { type: 'string' },
  repository: { type: 'string' },
  from: { type: 'string' },
  out: { type: 'string' },
  rehearse: { type: 'boolean', default: false },
};
const { values: asked } = parseArgs({ options });
const OUT = path.resolve(ROOT, asked.out ?? 'dist/release');

function said(command, args, cwd = ROOT) {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function refuse(sentence) {
  process.stderr.write(`Cannot make a release: ${sentence}\n`);
  process.exit(2);
}

function checkTree() {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  if (!readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8').includes(HEADING(version)))
    refuse(`CHANGELOG.md has no heading "${HEADING(version).trim()}"`);
  if (!asked.rehearse && said('git', ['status', '--porcelain']) !== '')
    refuse('the tree has changes; commit or stash them');
}

/** The same package under a name that has an owner; `folder` holds it, unpacked. */
function rename(folder, { name, repository }) {
  for (const file of ['package.json', 'npm-shrinkwrap.json']) {
    const manifest = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
    manifest.name = name;
    if (file === 'package.json') {
      delete manifest.private;
      manifest.publishConfig = PUBLISHING;
      if (repository !== undefined) manifest.repository = { type: 'git', url: repository };
    } else manifest.packages[''].name = name;
    writeFileSync(path.join(folder, file), `${JSON.stringify(manifest, null, 2)}\n`);
  }
}

function pack(cwd, to, ...args) {
  const name = said('npm', ['pack', '--silent', '--pack-destination', to, ...args], cwd).trim();
  return path.join(to, name.split('\n').at(-1));
}

checkTree();
rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
const aside = mkdtempSync(path.join(os.tmpdir(), 'parley-release-'));
try {
  let tarball = asked.from === undefined ? pack(ROOT, OUT) : path.join(OUT, path.basename(asked.from));
  if (asked.from !== undefined) copyFileSync(asked.from, tarball);
  said('tar', ['xzf', tarball, '-C', aside]);
  const folder = path.join(aside, 'parley');
  renameSync(path.join(aside, 'package'), folder);
  if (asked.name !== undefined) {
    rename(folder, asked);
    rmSync(tarball);
    tarball = pack(folder, OUT, '--ignore-scripts');
  }
  writeFileSync(path.join(OUT, 'sbom.cdx.json'), billOfMaterials(folder));
  if (asked.name === undefined)
    process.stderr.write('Not to be published: that takes --name @SCOPE/parley, a name that you own\n');
  else said('npm', ['publish', '--dry-run', '--silent', tarball], aside);
} finally {
  rmSync(aside, { recursive: true, force: true });
}
const hashes = readdirSync(OUT).map((file) => {
  const hash = createHash('sha256')
    .update(readFileSync(path.join(OUT, file)))
    .digest('hex');
  return `${hash}  ${file}\n`;
});
writeFileSync(path.join(OUT, 'SHA256SUMS'), hashes.join(''));
process.stdout.write(hashes.join(''));
