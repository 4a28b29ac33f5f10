/**
 * Which user of the host belongs to which of all sandboxes that root starts on it, whatever installation they are of.
 * Owns giving out numbers that no living sandbox, no process and no file of a sandbox has. A claim needs no release: it
 * ends with the folder it names, so that a number is free once nothing of its sandbox is left.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { lstat, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
import { isMissing, readRecordFile, writeRecordFile } from '../on-host/record-file.ts';
import { namesIn } from '../on-host/sandbox-place.ts';
import { usersOfProcesses } from './process-table.ts';

/** On disk, because folders outlive a boot. Where it cannot be written, the data directory has claims of its own. */
const SHARED_CLAIMS = '/var/lib/parley/sandbox-users';
/** Below 2^31, and above what systems give to people, services and containers. */
const FIRST_USER = 1_900_000_000;
/** So many that hosts which share no claims, such as containers, hardly ever give out the same one. */
const USERS = 2 ** 26;
/** Belongs to no sandbox. */
export const TRIAL_USER = FIRST_USER - 1;
/** Others hold the lock for some milliseconds, on a busy host some seconds; one that is stopped must not stop us for good. */
const LOCK_TIMEOUT_MS = 300_000;

interface ClaimOptions {
  readonly claimsDir?: string;
  readonly firstUser?: number;
  readonly users?: number;
}

const claimSchema = z.object({
  /** Folder of the sandbox. */
  dir: z.string(),
  /** Of the file system it is on: one that is not mounted is not gone. */
  device: z.number(),
});
type Claim = z.infer<typeof claimSchema>;

/**
 * The user of the sandbox of this folder, which exists; the same for every incarnation, because its files stay.
 * @throws ParleyError runtime_failed: there is none left, or the claims cannot be locked
 */
export async function claimUser(sandboxDir: string, options: ClaimOptions = {}): Promise<number> {
  const claimsDir = options.claimsDir ?? (await sharedOrOwn(sandboxDir));
  const noted = await notedUser(sandboxDir);
  if (noted !== null && (await readableClaimOf(claimsDir, noted))?.dir === sandboxDir) return noted;
  // What grows with the sandboxes and processes of the host is read before another process has to wait for us.
  const view = await viewHost(claimsDir, sandboxDir);
  const { dev: device } = await lstat(sandboxDir);
  const user = await locked(join(claimsDir, 'lock'), async () => {
    const chosen = await chooseUser(sandboxDir, { ...options, claimsDir, noted, view });
    const claim: Claim = { dir: sandboxDir, device };
    await writeRecordFile(join(claimsDir, String(chosen)), claim);
    return chosen;
  });
  await writeRecordFile(noteIn(sandboxDir), user);
  return user;
}

/** Which user has what, as it was before the lock: claims that came or went since then are seen under it. */
interface HostView {
  readonly claims: ReadonlyMap<number, Claim | null>;
  /** Of claims whose folders are gone. */
  readonly gone: readonly number[];
  /** Users that a process or folder has without a claim, or still has after it. */
  readonly others: ReadonlySet<number>;
}

async function viewHost(claimsDir: string, sandboxDir: string): Promise<HostView> {
  const claims = new Map<number, Claim | null>();
  const gone: number[] = [];
  for (const name of await namesIn(claimsDir)) {
    if (!/^\d+$/.test(name)) continue;
    const claim = await readableClaimOf(claimsDir, Number(name));
    claims.set(Number(name), claim);
    if (claim !== null && (await isGone(claim))) gone.push(Number(name));
  }
  const others = new Set([...(await notedBeside(sandboxDir)), ...(await usersOfProcesses())]);
  return { claims, gone, others };
}

interface Choice extends ClaimOptions {
  readonly claimsDir: string;
  readonly noted: number | null;
  readonly view: HostView;
}

async function chooseUser(sandboxDir: string, choice: Choice): Promise<number> {
  const { claimsDir, noted, view, firstUser = FIRST_USER, users = USERS } = choice;
  await forget(claimsDir, view.gone);
  // One that cannot be read stands against every sandbox that did not note it.
  const isClaimed = (user: number): Promise<boolean> =>
    claimOf(claimsDir, user).then(
      (claim) => claim !== null,
      () => true,
    );
  // What was broken off between the claim and the note.
  for (const [user, claim] of view.claims)
    if (claim?.dir === sandboxDir && (await readableClaimOf(claimsDir, user))?.dir === sandboxDir)
      return user;
  // A folder that was moved, or claims that were lost or cut off by a loss of power: the note in the folder names its
  // user. A copy of a folder has the number of another.
  if (noted !== null && (await readableClaimOf(claimsDir, noted)) === null) return noted;
  const start = createHash('sha256').update(sandboxDir).digest().readUInt32BE(0);
  for (let tries = 0; tries < users; tries += 1) {
    const user = firstUser + ((start + tries) % users);
    if (!view.others.has(user) && !(await isClaimed(user))) return user;
  }
  throw new ParleyError(
    'runtime_failed',
    `Cannot give sandbox "${sandboxDir}" a user of its own: each of ${users} is taken`,
  );
}

/** Removes claims of folders that are gone; one that was given to another since then stays. */
async function forget(claimsDir: string, users: readonly number[]): Promise<void> {
  for (const user of users) {
    const claim = await readableClaimOf(claimsDir, user);
    if (claim !== null && (await isGone(claim))) await rm(join(claimsDir, String(user)), { force: true });
  }
}

/** A folder is gone where the nearest one above it is on the same file system; else it may only be unmounted. */
async function isGone({ dir, device }: Claim): Promise<boolean> {
  for (let at = dir; ; at = dirname(at)) {
    try {
      const stat = await lstat(at);
      return at !== dir && stat.dev === device;
    } catch (error) {
      if (!isMissing(error) || at === dirname(at)) return false;
    }
  }
}

async function claimOf(claimsDir: string, user: number): Promise<Claim | null> {
  return await readRecordFile(join(claimsDir, String(user)), (value) => claimSchema.parse(value));
}

async function readableClaimOf(claimsDir: string, user: number): Promise<Claim | null> {
  return await claimOf(claimsDir, user).catch(() => null);
}

/** Beside the sandbox's own files, where the agent does not reach. */
function noteIn(sandboxDir: string): string {
  return join(sandboxDir, 'user');
}

/** Null when there is none, or it cannot be read. */
async function notedUser(sandboxDir: string): Promise<number | null> {
  const text = await readFile(noteIn(sandboxDir), 'utf8').catch(() => '');
  return /^\d+\n$/.test(text) ? Number(text) : null;
}

/** Claims may have been lost: the other sandboxes of the installation have notes of their users. */
async function notedBeside(sandboxDir: string): Promise<readonly number[]> {
  const parent = dirname(sandboxDir);
  const noted = await Promise.all((await namesIn(parent)).map((name) => notedUser(join(parent, name))));
  return noted.filter((user) => user !== null);
}

async function sharedOrOwn(sandboxDir: string): Promise<string> {
  const own = join(dirname(dirname(sandboxDir)), 'sandbox-users');
  for (const directory of [SHARED_CLAIMS, own]) {
    const isMade = await mkdir(directory, { recursive: true, mode: 0o700 }).then(
      () => true,
      () => false,
    );
    if (isMade) return directory;
  }
  throw new ParleyError('runtime_failed', `Cannot keep users of sandboxes: "${own}" cannot be made`);
}

/** The kernel lets go of the lock when the process that waits on our pipe ends, and that ends with us. */
async function locked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const holder = spawn('flock', ['-x', file, '/bin/sh', '-c', 'echo held; read -r line'], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(holder, 'exit').catch(() => undefined);
  // A holder that was ended from outside has no use for our end.
  holder.stdin.on('error', () => undefined);
  try {
    const isHeld = await Promise.race([
      once(holder.stdout, 'data').then(() => true),
      ended.then(() => false),
      delay(LOCK_TIMEOUT_MS, false, { ref: false }),
    ]);
    if (!isHeld)
      throw new ParleyError(
        'runtime_failed',
        `Cannot lock "${file}" within ${LOCK_TIMEOUT_MS / 1_000} s: "fuser ${file}" names who holds it`,
      );
    return await work();
  } finally {
    if (holder.pid !== undefined) {
      holder.stdin.end();
      const isOver = await Promise.race([ended.then(() => true), delay(1_000, false, { ref: false })]);
      if (!isOver) holder.kill('SIGKILL');
    }
  }
}
