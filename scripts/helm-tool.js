/**
 * Installs Helm, where it is missing, with Go: the tests of the chart render it. It goes into a cache outside the tree,
 * and is there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import path from 'node:path';
import { goInstall, installTool, programIn, runAsProgram, toolsFolder } from './tool-cache.js';

const HELM_VERSION = 'v3.22.0';

const folderOf = (env) => path.join(toolsFolder(env), `helm-${HELM_VERSION}`);

/** Where Helm is: on the path, or in the cache; null when it is neither. @param {NodeJS.ProcessEnv} env */
export const installedHelm = (env) => programIn(folderOf(env), 'helm', env);

await runAsProgram(import.meta.url, 'helm', (env) =>
  installTool({ name: 'Helm', there: installedHelm(env), folder: folderOf(env) }, env, (target) =>
    goInstall(`helm.sh/helm/v3/cmd/helm@${HELM_VERSION}`, target, env),
  ),
);
