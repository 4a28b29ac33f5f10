/**
 * A lock between processes on one machine, held as a file with the owner's process id.
 * Owns nothing but waiting; its users must stay correct if two holders ever meet (write aside, then rename).
 */
import { clearInterval, setInterval } from 'node:timers';
import { closeSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs';

/** How often a waiting process checks again; short beside a build of a second. */
const POLL_MS = 50;
/** Nothing that is done under a lock takes this long, so an older lock has no owner. */
const ABANDONED_MS = 10 * 60_000;
/** How often a holder that still works renews its lock. */
const FRESH_MS = 60_000;

/**
 * Runs `work` while no other process holds `file`. Returns what `work` returns, or the promise of it.
 * @type {<T>(file: string, work: () => T) => T}
 */
export function withLock(file, work) {
  while (!tryLock(file)) {
    if (isAbandoned(file)) rmSync(file, { force: true });
    else sleep(POLL_MS);
  }
  const release = () => rmSync(file, { force: true });
  let result;
  try {
    result = work();
  } catch (error) {
    release();
    throw error;
  }
  if (result instanceof Promise) return keptFresh(file, result).finally(release);
  release();
  return result;
}

/** A cold build can take longer than the time after which a lock counts as abandoned. */
function keptFresh(file, result) {
  const timer = setInterval(() => utimesSync(file, new Date(), new Date()), FRESH_MS);
  timer.unref();
  return result.finally(() => clearInterval(timer));
}

function tryLock(file) {
  try {
    const handle = openSync(file, 'wx');
    writeSync(handle, String(process.pid));
    closeSync(handle);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** True when the owner is dead, or the lock is too old to have an owner. A lock without an id is being written. */
function isAbandoned(file) {
  try {
    if (Date.now() - statSync(file).mtimeMs > ABANDONED_MS) return true;
    const owner = Number(readFileSync(file, 'utf8'));
    return owner > 0 && !isAlive(owner);
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Synchronous on purpose: callers have nothing else to do until the lock is theirs. */
function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
