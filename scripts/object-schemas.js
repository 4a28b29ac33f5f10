/**
 * Fetches what others say about the objects that the chart makes: the OpenAPI document of Kubernetes, and the
 * definitions of the custom objects. They come from their Go modules, go into a cache outside the tree, and are there
 * the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { installTool, runAsProgram, toolsFolder } from './tool-cache.js';

/** One of them changes: so does this, and the folder is made anew. */
const EDITION = 'kubernetes-1.34.4-1';

const SOURCES = [
  {
    module: 'k8s.io/kubernetes@v1.34.4',
    file: 'api/openapi-spec/swagger.json',
    as: 'kubernetes.json',
  },
  {
    module: 'sigs.k8s.io/gateway-api@v1.3.0',
    file: 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
    as: 'HTTPRoute.yaml',
  },
  {
    module: 'github.com/external-secrets/external-secrets@v0.17.0',
    file: 'config/crds/bases/external-secrets.io_externalsecrets.yaml',
    as: 'ExternalSecret.yaml',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.82.0',
    file: 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
    as: 'ServiceMonitor.yaml',
  },
];

const folderOf = (env) => path.join(toolsFolder(env), `object-schemas-${EDITION}`);

/**
 * Folder with `kubernetes.json` and a definition for each custom kind; null when one of them is missing.
 * @param {NodeJS.ProcessEnv} env
 */
export function installedObjectSchemas(env) {
  const folder = folderOf(env);
  return SOURCES.every(({ as }) => existsSync(path.join(folder, as))) ? folder : null;
}

await runAsProgram(import.meta.url, 'object-schemas', (env) => {
  const tool = { name: 'schemas of objects', there: installedObjectSchemas(env), folder: folderOf(env) };
  return installTool(tool, env, (target) => {
    for (const { module, file, as } of SOURCES) {
      const said = execFileSync('go', ['mod', 'download', '-json', module], {
        cwd: target,
        env: { ...env, GOFLAGS: '-mod=mod' },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      copyFileSync(path.join(JSON.parse(said).Dir, file), path.join(target, as));
    }
  });
});
