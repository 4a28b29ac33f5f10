/**
 * What `npm start` needs of the packages: those of an installation, and the bundler that makes the programs.
 * Owns the derived package file and lock file; what Temporal, clusters, the console's build and tests need is not in them.
 */

/** Of the development packages, what builds the programs of a checkout. */
const BUILDERS = ['esbuild'];

/**
 * Both as texts, from those of the checkout: the same versions from the same places with the same checksums.
 * @type {(manifestText: string, lockText: string) => { readonly manifest: string, readonly lock: string }}
 */
export function packagesToUse(manifestText, lockText) {
  const { name, version, dependencies, devDependencies, overrides } = JSON.parse(manifestText);
  const builders = Object.fromEntries(BUILDERS.map((builder) => [builder, devDependencies[builder]]));
  const own = { name, version, private: true, dependencies: { ...dependencies, ...builders } };
  const lock = JSON.parse(lockText);
  const packages = { ...lock.packages, '': own };
  return {
    manifest: JSON.stringify({ ...own, overrides }),
    lock: JSON.stringify({ ...lock, packages }),
  };
}
