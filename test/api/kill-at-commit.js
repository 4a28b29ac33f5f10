/**
 * Loaded into `parley serve` before it: ends the process at once beside its n-th commit from when it is told to.
 * Owns the counting. It is told by SIGUSR2; KILL_AT_COMMIT_FILE holds n, negative for just before that commit.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const Database = createRequire(import.meta.url)('libsql');
const file = process.env['KILL_AT_COMMIT_FILE'] ?? '';

let at = 0;
let count = 0;

process.on('SIGUSR2', () => {
  at = Number(readFileSync(file, 'utf8'));
  count = 0;
  writeFileSync(`${file}.armed`, '');
});

const { prepare } = Database.prototype;
Database.prototype.prepare = function (text) {
  const statement = prepare.call(this, text);
  if (text !== 'commit') return statement;
  const run = statement.run.bind(statement);
  statement.run = (...values) => {
    count += 1;
    if (at < 0 && count === -at) process.kill(process.pid, 'SIGKILL');
    const result = run(...values);
    if (at > 0 && count === at) process.kill(process.pid, 'SIGKILL');
    return result;
  };
  return statement;
};

if (file === '' || existsSync(`${file}.armed`)) throw new Error('KILL_AT_COMMIT_FILE names no fresh file');
