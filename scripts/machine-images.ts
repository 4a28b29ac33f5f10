/**
 * Images that are made of this machine's own files, for tests where none can be pulled: a base with Node.js, Git and
 * certificates, and the database, Temporal and its web UI under the names of temporal-compose.yml, each with the
 * variables that its public image takes.
 * Owns what stands in them; they are for tests, and nothing of the product is.
 */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { collectFiles, foundPrograms } from '../runtimes/docker/image/host-files.ts';
import { IMAGE_NODE, imageEntries } from '../runtimes/docker/image/image-entries.ts';
import { tarMembers } from '../runtimes/workspace-archive/tar-members.ts';
import type { ComposeTools } from './compose-tools.js';

/** Stands for the public image that the recipes name. */
export const MACHINE_BASE = 'parley-test-base:1';

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 64 * 1024 ** 2;
/** Of each stream, in the message of a failure. */
const SAID_MAX = 2_000;
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
/** Whom the programs of the three belong to inside. */
const SERVICE_UID = 999;

export interface DockerCommand {
  /** Of the daemon. */
  readonly socket: string;
  /** Variables of the `docker` command beside the process's own. */
  readonly env: NodeJS.ProcessEnv;
}

/** Runs `docker`; its standard output. @throws Error with what it said */
export async function docker({ env }: DockerCommand, ...args: readonly string[]): Promise<string> {
  const options = { env: { ...process.env, ...env }, maxBuffer: OUTPUT_BYTES_MAX };
  return await run('docker', [...args], options).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout?: string; readonly stderr?: string }) => {
      const said = [error.stdout, error.stderr ?? String(error)].map((text = '') =>
        text.trim().slice(-SAID_MAX),
      );
      throw new Error(`docker ${args[0] ?? ''} failed: ${said.join('\n')}`);
    },
  );
}

/** What a user's recipes start from: programs of this machine, Node.js with npm, Git, certificates. */
export async function makeBaseImage({ socket }: DockerCommand): Promise<void> {
  const client = new Docker({ socketPath: socket });
  const members = tarMembers(imageEntries(await collectFiles([...foundPrograms(), ...systemLibraries()])));
  const [repo, tag] = MACHINE_BASE.split(':');
  const search = `${path.dirname(IMAGE_NODE)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
  const changes = [
    `ENV PATH=${search}`,
    `ENV NODE_EXTRA_CA_CERTS=${AUTHORITIES}`,
    `ENV SSL_CERT_FILE=${AUTHORITIES}`,
  ];
  const stream = await client.importImage(Readable.from(members, { objectMode: false }), {
    repo,
    tag,
    changes,
  });
  await new Promise<void>((resolve, reject) => {
    client.modem.followProgress(stream, (error: Error | null) => (error ? reject(error) : resolve()));
  });
}

/** Parts of the C library that programs made elsewhere ask for by their old names. */
function systemLibraries(): readonly string[] {
  return ['/lib/x86_64-linux-gnu', '/lib/aarch64-linux-gnu']
    .filter(existsSync)
    .flatMap((folder) => ['rt', 'dl', 'pthread', 'util'].flatMap((name) => namedLibrary(folder, name)));
}

function namedLibrary(folder: string, name: string): readonly string[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(`lib${name}.so.`))
    .map((file) => path.join(folder, file));
}

interface Recipe {
  readonly image: string;
  /** Programs of this machine, with the libraries they load. */
  readonly programs: readonly string[];
  /** Further files and folders: path in the image → path here. */
  readonly files: Readonly<Record<string, string>>;
  /** Where its programs are sought besides. */
  readonly search?: string;
  /** With which the daemon asks it to end, where that is not SIGTERM. */
  readonly stopSignal?: string;
  /** Run by `sh` as the first program. */
  readonly start: string;
  /** Folder that the service may write to. */
  readonly home: string;
}

async function makeImage(command: DockerCommand, recipe: Recipe): Promise<void> {
  const { image, search, stopSignal, home, start } = recipe;
  const context = mkdtempSync(path.join(os.tmpdir(), 'parley-recipe-'));
  try {
    const root = path.join(context, 'files');
    for (const [to, from] of await collectFiles(recipe.programs)) copy(from, path.join(root, to));
    for (const [to, from] of Object.entries(recipe.files)) copy(from, path.join(root, to));
    mkdirSync(path.join(root, 'usr/local/bin'), { recursive: true });
    writeFileSync(path.join(root, 'usr/local/bin/start'), `#!/bin/sh\nset -eu\n${start}`, { mode: 0o755 });
    const owner = `${SERVICE_UID}:${SERVICE_UID}`;
    const lines = [
      `FROM ${MACHINE_BASE}`,
      'COPY files/ /',
      `RUN echo 'service:x:${owner}:service:/tmp:/bin/sh' >> /etc/passwd \\`,
      `  && mkdir -p ${home} && chown -R ${owner} ${home} && chmod 1777 /tmp`,
      ...(search === undefined ? [] : [`ENV PATH=${search}:$PATH`]),
      ...(stopSignal === undefined ? [] : [`STOPSIGNAL ${stopSignal}`]),
      `USER ${owner}`,
      'ENTRYPOINT ["/usr/local/bin/start"]',
    ];
    const file = path.join(context, 'Containerfile');
    writeFileSync(file, `${lines.join('\n')}\n`);
    await docker(command, 'build', '--quiet', '--file', file, '--tag', image, context);
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

/** Root links such as /lib are there in the base, and what lies below them comes by its real path. */
function copy(from: string, to: string): void {
  if (path.dirname(from) === '/' && lstatSync(from).isSymbolicLink()) return;
  mkdirSync(path.dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, force: true });
}

/** PostgreSQL as its public image is called: user, password and database by variables, files in its volume. */
export async function makePostgresImage(command: DockerCommand, image: string): Promise<void> {
  const programs = newestPostgres();
  const home = path.dirname(programs);
  const share = home.replace('/lib/', '/share/');
  await makeImage(command, {
    image,
    programs: readdirSync(programs).map((name) => path.join(programs, name)),
    files: Object.fromEntries(
      [path.join(home, 'lib'), share, '/usr/share/zoneinfo'].filter(existsSync).map((dir) => [dir, dir]),
    ),
    search: programs,
    stopSignal: 'SIGINT',
    home: '/var/lib/postgresql/data',
    // Compiling a query at run time needs a library that is not taken along.
    start: `
data=/var/lib/postgresql/data
if [ ! -s "$data/PG_VERSION" ]; then
  printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
  initdb -D "$data" -U "$POSTGRES_USER" --auth-host=scram-sha-256 --auth-local=trust --pwfile=/tmp/password \\
    --encoding=UTF8 --locale=C.UTF-8
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
  pg_ctl -D "$data" -o "-c listen_addresses='' -c unix_socket_directories=/tmp" -w start
  createdb --host /tmp --username "$POSTGRES_USER" "\${POSTGRES_DB:-$POSTGRES_USER}"
  pg_ctl -D "$data" -m fast -w stop
fi
if [ "\${1:-}" = postgres ]; then shift; fi
exec postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp -c jit=off "$@"
`,
  });
}

function newestPostgres(): string {
  const place = '/usr/lib/postgresql';
  const versions = existsSync(place) ? readdirSync(place).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions
    .map((version) => path.join(place, version, 'bin'))
    .find((dir) => existsSync(`${dir}/initdb`));
  if (found === undefined) throw new Error('Cannot make the image of PostgreSQL: Debian has not put it here');
  return found;
}

/** Versity's S3 gateway, called with its arguments. */
export async function makeS3Image(command: DockerCommand, image: string, program: string): Promise<void> {
  const files = { '/usr/local/bin/versitygw': program };
  await makeImage(command, { image, programs: [], files, home: '/srv', start: 'exec versitygw "$@"\n' });
}

/** Temporal's CLI, whose server of one program is called with its arguments. */
export async function makeCliImage(command: DockerCommand, image: string, program: string): Promise<void> {
  const files = { '/usr/local/bin/temporal': program };
  await makeImage(command, { image, programs: [], files, home: '/srv', start: 'exec temporal "$@"\n' });
}

/** Temporal's own server over PostgreSQL, its schemas made and brought up to date first, as its public image does. */
export async function makeTemporalImage(
  command: DockerCommand,
  { image, tools }: { readonly image: string; readonly tools: ComposeTools },
): Promise<void> {
  await makeImage(command, {
    image,
    programs: ['/usr/bin/hostname'].filter(existsSync),
    files: {
      '/usr/local/bin/temporal-server': path.join(tools.server, 'temporal-server'),
      '/usr/local/bin/temporal-sql-tool': path.join(tools.server, 'temporal-sql-tool'),
      '/usr/local/bin/temporal': tools.cli,
      '/etc/temporal/config': path.join(tools.server, 'config'),
      '/etc/temporal/schema': path.join(tools.server, 'schema/postgresql/v12'),
    },
    home: '/etc/temporal',
    start: `
sql() {
  temporal-sql-tool --plugin "$DB" --endpoint "$POSTGRES_SEEDS" --port "$DB_PORT" --user "$POSTGRES_USER" \\
    --password "$POSTGRES_PWD" "$@"
}
for kind in temporal visibility; do
  database=temporal
  if [ "$kind" = visibility ]; then database=temporal_visibility; fi
  update() { sql --db "$database" update-schema --schema-dir "/etc/temporal/schema/$kind/versioned"; }
  sql --db "$database" create
  update || { sql --db "$database" setup-schema --version 0.0 && update; }
done
BIND_ON_IP="$(getent hosts "$(hostname)" | awk '{print $1; exit}')"
export BIND_ON_IP
exec temporal-server --root /etc/temporal --env docker --allow-no-auth start
`,
  });
}

/** Temporal's web UI, configured by the variables of its public image. */
export async function makeUiImage(
  command: DockerCommand,
  { image, tools }: { readonly image: string; readonly tools: ComposeTools },
): Promise<void> {
  await makeImage(command, {
    image,
    programs: ['/usr/bin/wget'].filter(existsSync),
    files: { '/usr/local/bin/ui-server': path.join(tools.ui, 'ui-server') },
    home: '/etc/temporal-ui',
    start: `
cat > /etc/temporal-ui/parley.yaml <<END
temporalGrpcAddress: $TEMPORAL_ADDRESS
host: 0.0.0.0
port: 8080
enableUi: true
defaultNamespace: $TEMPORAL_DEFAULT_NAMESPACE
END
exec ui-server --root /etc/temporal-ui --config . --env parley start
`,
  });
}
