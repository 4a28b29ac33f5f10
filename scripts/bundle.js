/**
 * Bundles sources into programs that Node.js runs.
 * Owns what every bundle of the project has in common; which programs there are is in build.js.
 */
import { ROOT } from './setup.js';

/**
 * zod's messages in forty languages, of which its default is one: a third of what a quick command parses. Only English
 * is kept; `z.locales` is not used.
 * @type {import('esbuild').Plugin}
 */
export const ENGLISH_ONLY = {
  name: 'english-only',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/**
 * One esbuild call with what every bundle of the project has in common; returns the files that went into it.
 * @type {(options: import('esbuild').BuildOptions) => Promise<readonly string[]>}
 */
export async function bundle(options) {
  const esbuild = await import('esbuild');
  const { metafile } = await esbuild.build({
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'error',
    metafile: true,
    ...options,
  });
  return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
}
