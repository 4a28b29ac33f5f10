/**
 * The bill of materials of a package, as CycloneDX: what is installed with it, as npm tells, and what is bundled into it.
 * Owns the second: npm knows nothing of it, and a search for a vulnerable package must find it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const OUTPUT_BYTES_MAX = 64 * 1024 ** 2;
/** Where the bundlers leave the terms of what they took, and how each names a package, its version and its licence. */
const BUNDLED = {
  'dist/licences.txt': /^((?:@[^/\s]+\/)?[^/\s]+) (\d\S*) \(([^)]+)\)$/gm,
  'dist/web/licences.md': /^## ((?:@[^/\s]+\/)?[^/\s]+) - (\d\S*) \(([^)]+)\)$/gm,
};

/** A text; `folder` is an unpacked package with its lock file. */
export function billOfMaterials(folder) {
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
