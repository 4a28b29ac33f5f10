/**
 * Runs inside the hostile sandbox: takes orders in turn and carries out the attack that each names.
 * Owns the attacks that a tool of an agent can make; those that only an Agent Server can make are requested from
 * `lying-agent.ts` by a file. Each runs in a process of its own, whose end frees what it took.
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { LIE_FILE, ORDERS, type Attack, type Order } from './orders.ts';

const HOST = '/run/parley/host';
const SOCKETS = {
  proxy: `${HOST}/proxy/proxy.sock`,
  callbacks: `${HOST}/webhook/webhook.sock`,
  git: `${HOST}/git/git.sock`,
  egress: '/run/parley/egress/egress.sock',
};
const MEBIBYTE = 1024 ** 2;
const ZEROS = Buffer.alloc(MEBIBYTE);
const POLL_MS = 50;
/** The service rarely polls an agent that sent much, so a lie has to wait for the next request. */
const LIE_MS_MAX = 45_000;

type Did = string | Promise<string>;
/** Each ends by itself or is ended when its time is over; it returns what it achieved. */
const ATTACKS: Readonly<Record<Attack, (order: Order) => Did>> = {
  'bodies before the key': ({ ms }) => bodiesBeforeTheKey(ms),
  'open connections': ({ ms }) => openConnections(ms),
  'pages without end': (order) => lie(order),
  'an answer without end': (order) => lie(order),
  'a huge transcript': (order) => lie(order),
  'events by callback': (order) => lie(order),
  'model calls in flight': (order) => lie(order),
  'places of the Git relay': ({ ms }) => placesOfGit(ms),
  'inotify instances': () => inotify(),
  'empty files': () => emptyFiles(60_000),
  'unlinked open files': ({ ms }) => unlinkedFiles(ms),
  'files beside the socket': () => filesBesideTheSocket(10_000),
  'shared memory': ({ ms }) => sharedMemory(ms),
  'sparse files': () => sparseFiles(40),
  'paths that are too long': () => deepPath(60),
  'refusals without end': ({ ms }) => refusals(ms),
};

/** A connection that never throws; null where the other side refuses it. */
function opened(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.on('error', () => resolve(null));
  });
}

async function bodiesBeforeTheKey(ms: number): Promise<string> {
  const head = (key: string): string =>
    `POST /api/v1/webhooks/events/x HTTP/1.1\r\nhost: x\r\n${key}content-type: application/json\r\ncontent-length: ${8 * MEBIBYTE}\r\n\r\n`;
  let sent = 0;
  const send = async (at: number): Promise<void> => {
    const socket = await opened(SOCKETS.callbacks);
    socket
      ?.resume()
      .write(head(at % 2 === 0 ? '' : `x-session-api-key: ${randomBytes(16).toString('hex')}\r\n`));
    for (let mebibytes = 0; mebibytes < 8 && socket?.writable === true; mebibytes += 1) {
      const went = await new Promise<boolean>((resolve) => {
        socket.once('close', () => resolve(false));
        socket.write(ZEROS, (error) => resolve(error == null));
      });
      if (went) sent += 1;
    }
    await wait(ms);
  };
  await Promise.race([Promise.all(Array.from({ length: 300 }, (_, at) => send(at))), wait(ms)]);
  return `300 connections, ${sent} MiB taken`;
}

async function openConnections(ms: number): Promise<string> {
  const until = Date.now() + ms;
  const held: Socket[] = [];
  for (const paths = Object.values(SOCKETS); held.length < 19_900 && Date.now() < until;) {
    const more = await Promise.all(paths.flatMap((path) => Array.from({ length: 100 }, () => opened(path))));
    const got = more.filter((socket) => socket !== null);
    held.push(...got);
    if (got.length === 0) break;
  }
  await wait(Math.max(0, until - Date.now()));
  return `${held.length} connections, ${held.filter(({ destroyed }) => !destroyed).length} of them kept`;
}

async function placesOfGit(ms: number): Promise<string> {
  const until = Date.now() + ms;
  let calls = 0;
  const auth = 'authorization: Bearer x\r\n';
  const call = (line: string): string =>
    `${line} HTTP/1.1\r\nhost: x\r\n${auth}content-length: 100000\r\n\r\n0032want `;
  while (Date.now() < until) {
    const sockets = await Promise.all(Array.from({ length: 200 }, () => opened(SOCKETS.git)));
    for (const socket of sockets) socket?.resume().write(call('POST /local/a/b.git/git-upload-pack'));
    calls += sockets.filter((socket) => socket !== null).length;
    await wait(500);
  }
  return `${calls} calls`;
}

/** Instances and watches, each kept while the program lives. */
function inotify(): string {
  const [init, add] = process.arch === 'arm64' ? [26, 27] : [294, 254];
  const watches = 'for my $d (glob "/usr/lib/*") { $w++ if syscall(ADD, $f, "$d", 2) >= 0 }';
  const script = `while (1) { my $f = syscall(INIT, 0); last if $f < 0; $n++; ${watches} } print "$n instances, $w watches\\n"; $| = 1; print ""; sleep 3`;
  const text = script.replace('INIT', String(init)).replace('ADD', String(add));
  return execFileSync('perl', ['-e', `$n = $w = 0; ${text}`], { encoding: 'utf8' }).trim();
}

function emptyFiles(count: number): string {
  mkdirSync('many', { recursive: true });
  for (let at = 0; at < count; at += 1) writeFileSync(`many/${at}`, '');
  return `${count} files`;
}

/** As much as may be written to one file, in files without a name. */
async function unlinkedFiles(ms: number): Promise<string> {
  const until = Date.now() + ms;
  let mebibytes = 0;
  for (let file = 0; Date.now() < until && mebibytes < 2_048; file += 1) {
    const fd = openSync(`unlinked-${file}`, 'w');
    unlinkSync(`unlinked-${file}`);
    for (let at = 0; at < 256 && Date.now() < until; at += 1, mebibytes += 1) {
      writeSync(fd, ZEROS);
      if (at % 32 === 0) await wait(1);
    }
  }
  await wait(Math.max(0, until - Date.now()));
  return `${mebibytes} MiB`;
}

function filesBesideTheSocket(count: number): string {
  const dir = '/run/parley/agent';
  for (let at = 0; at < count; at += 1) writeFileSync(`${dir}/${at}`, '');
  return `${count} files`;
}

async function sharedMemory(ms: number): Promise<string> {
  let mebibytes = 0;
  try {
    const fd = openSync('/dev/shm/fill', 'w');
    for (; mebibytes < 4_096; mebibytes += 1) writeSync(fd, ZEROS);
  } catch {
    // It is full: what was written until now counts.
  }
  const memfd = process.arch === 'arm64' ? 279 : 319;
  const script = `my $f = syscall(${memfd}, "x", 0); open(my $o, ">&=", $f); my $z = "0" x 1048576; my $n = 0; while ($n < 4096) { syswrite($o, $z) or last; $n++ } print $n`;
  let other = 'ended';
  try {
    other = `${execFileSync('perl', ['-e', script], { encoding: 'utf8' })} MiB`;
  } catch {
    // The kernel killed it for its memory use.
  }
  await wait(ms / 4);
  rmSync('/dev/shm/fill', { force: true });
  return `${mebibytes} MiB of /dev/shm, a file of memory: ${other}`;
}

function sparseFiles(count: number): string {
  mkdirSync('sparse', { recursive: true });
  let made = 0;
  for (let at = 0; at < count; at += 1) {
    writeFileSync(`sparse/${at}`, 'x');
    try {
      truncateSync(`sparse/${at}`, 200 * MEBIBYTE);
      made += 1;
    } catch {
      // Larger than a file may be.
    }
  }
  return `${made} of 200 MiB`;
}

/** Relative steps: no path that is passed to the kernel is too long. */
function deepPath(depth: number): string {
  const script = `n=$(printf 'd%.0s' $(seq 200)); mkdir -p deep && cd deep && for i in $(seq ${depth}); do mkdir -p $n && cd $n || exit 1; done; echo x > leaf; chmod 000 leaf; chmod 500 .`;
  execFileSync('bash', ['-c', script]);
  return `${depth * 201} bytes of path`;
}

async function refusals(ms: number): Promise<string> {
  const until = Date.now() + ms;
  let asked = 0;
  while (Date.now() < until) {
    const ask = async (): Promise<void> => {
      const socket = await opened(SOCKETS.egress);
      asked += 1;
      if (socket === null) return;
      const ended = new Promise((resolve) => socket.once('close', resolve));
      socket
        .resume()
        .end(`CONNECT host-${randomBytes(4).toString('hex')}.example:443 HTTP/1.1\r\nhost: x\r\n\r\n`);
      await Promise.race([ended, wait(1_000)]);
    };
    await Promise.all(Array.from({ length: 50 }, ask));
  }
  return `${asked} hosts asked for`;
}

/** An answer that only the Agent Server can give: the code prepended to it reads this file. */
async function lie({ attack, ms }: Order): Promise<string> {
  const said = `${LIE_FILE}.said`;
  rmSync(said, { force: true });
  writeFileSync(LIE_FILE, attack);
  const until = Date.now() + LIE_MS_MAX;
  while (!existsSync(said) && Date.now() < until) await wait(POLL_MS);
  await wait(ms);
  rmSync(LIE_FILE, { force: true });
  return existsSync(said) ? readFileSync(said, 'utf8') : 'nobody asked';
}

/** One order in a process of its own; null when it was ended from outside. */
function carriedOut(order: Order): Promise<string> {
  const child = spawn(process.execPath, [process.argv[1] ?? '', JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), order.ms * 2 + LIE_MS_MAX);
  return new Promise((resolve) =>
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve(said === '' ? `ended by ${signal ?? `exit ${code}`}` : said);
    }),
  );
}

async function main(): Promise<void> {
  const given = process.argv[2];
  if (given !== undefined) {
    const order = JSON.parse(given) as Order;
    process.stdout.write(await ATTACKS[order.attack](order));
    process.exit();
  }
  mkdirSync(ORDERS, { recursive: true });
  writeFileSync(`${ORDERS}/ready`, '');
  for (;;) {
    const next = readdirSync(ORDERS).find((name) => name.endsWith('.order'));
    if (next === undefined) {
      await wait(POLL_MS);
      continue;
    }
    const order = JSON.parse(readFileSync(`${ORDERS}/${next}`, 'utf8')) as Order;
    unlinkSync(`${ORDERS}/${next}`);
    const did = await carriedOut(order);
    writeFileSync(`${ORDERS}/did`, did);
  }
}

void main();
