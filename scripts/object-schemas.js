/**
 * Fetches what others say about the objects that the chart makes: the OpenAPI document of Kubernetes, and the
 * definitions of the custom objects. They come from their Go modules, go into a cache outside the tree, and are there
 * the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { onPath } from './find-program.js';
import { withLock } from './lock.js';
import { toolsFolder } from './temporal-tools.js';

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

/** Folder with `kubernetes.json` and a definition for each custom kind; null when one of them is missing. */
export function installedObjectSchemas(env) {
  const folder = path.join(toolsFolder(env), `object-schemas-${EDITION}`);
  return SOURCES.every(({ as }) => existsSync(path.join(folder, as))) ? folder : null;
}

/** Fetches them; resolves with a line that says how it went. */
export async function installObjectSchemas(env) {
  mkdirSync(toolsFolder(env), { recursive: true });
  return await withLock(path.join(toolsFolder(env), '.object-schemas.lock'), () =>
    Promise.resolve(install(env)),
  );
}

function install(env) {
  const there = installedObjectSchemas(env);
  if (there !== null) return { ok: true, line: there };
  const go = onPath('go', env);
  if (go === null) return { ok: false, line: 'go is not installed' };
  const folder = path.join(toolsFolder(env), `object-schemas-${EDITION}`);
  const target = `${folder}.new`;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  try {
    for (const { module, file, as } of SOURCES) {
      const said = execFileSync(go, ['mod', 'download', '-json', module], {
        cwd: target,
        env: { ...env, GOFLAGS: '-mod=mod' },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      copyFileSync(path.join(JSON.parse(said).Dir, file), path.join(target, as));
    }
    rmSync(folder, { recursive: true, force: true });
    renameSync(target, folder);
    return { ok: true, line: `fetched into ${folder}` };
  } catch (error) {
    return { ok: false, line: error.message };
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { ok, line } = await installObjectSchemas(process.env);
  process.stderr.write(
    `parley: ${ok ? 'Schemas of objects' : 'Cannot fetch the schemas of objects'}: ${line}\n`,
  );
  if (process.env.CI === 'true' && !ok) process.exitCode = 1;
}
