/**
 * Loaded into `parley serve` before it: ends the process at once beside its n-th commit from when it is told to.
 * Owns the counting. It is told by SIGUSR2; KILL_AT_COMMIT_FILE holds n, negative for just before that commit.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const Database = require('libsql');
const { Client } = require('pg');
const file = process.env['KILL_AT_COMMIT_FILE'] ?? '';

let at = 0;
let count = 0;

process.on('SIGUSR2', () => {
  at = Number(readFileSync(file, 'utf8'));
  count = 0;
  writeFileSync(`${file}.armed`, '');
});

/** Before and after; what is between them is the commit. */
function before() {
  count += 1;
  if (at < 0 && count === -at) process.kill(process.pid, 'SIGKILL');
}
function after() {
  // Commits of several connections overlap: the one that is counted may not be the first to end.
  if (at > 0 && count >= at) process.kill(process.pid, 'SIGKILL');
}

const { prepare } = Database.prototype;
Database.prototype.prepare = function (text) {
  const statement = prepare.call(this, text);
  if (text !== 'commit') return statement;
  const run = statement.run.bind(statement);
  statement.run = (...values) => {
    before();
    const result = run(...values);
    after();
    return result;
  };
  return statement;
};

const { query } = Client.prototype;
Client.prototype.query = function (text, ...others) {
  if (text !== 'commit') return query.call(this, text, ...others);
  before();
  return query.call(this, text, ...others).then((result) => {
    after();
    return result;
  });
};

if (file === '' || existsSync(`${file}.armed`)) throw new Error('KILL_AT_COMMIT_FILE names no fresh file');
