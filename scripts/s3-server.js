/**
 * Installs Versity's S3 gateway with Go, where it is missing: a real server of S3's protocol over a folder, on which the
 * tests of blobs and results run. It goes into the cache of the other tools, and is there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import path from 'node:path';
import { goInstall, installTool, programIn, runAsProgram, toolsFolder } from './tool-cache.js';

const VERSION = 'v1.8.0';

const folderOf = (env) => path.join(toolsFolder(env), `versitygw-${VERSION}`);

/** On the path, or in the cache; null when it is neither. @param {NodeJS.ProcessEnv} env */
export const installedS3Server = (env) => programIn(folderOf(env), 'versitygw', env);

await runAsProgram(import.meta.url, 's3-server', (env) => {
  const tool = { name: 'the server of S3', there: installedS3Server(env), folder: folderOf(env) };
  return installTool(tool, env, (target) =>
    goInstall(`github.com/versity/versitygw/cmd/versitygw@${VERSION}`, target, env),
  );
});
