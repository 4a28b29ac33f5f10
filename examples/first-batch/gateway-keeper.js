/**
 * Runs a program and ends it as soon as whoever started this is gone: `node gateway-keeper.js PROGRAM ARGUMENT…`.
 * Its standard input is the rope: when the other end is let go, by intent or because that process was killed,
 * the program gets SIGTERM. Must not read what the program prints.
 */
import { spawn } from 'node:child_process';

const child = spawn(process.execPath, process.argv.slice(2), { stdio: ['ignore', 'inherit', 'inherit'] });
child.on('error', (error) => {
  process.stderr.write(`Cannot start program: ${error.message}\n`);
  process.exitCode = 1;
});
child.on('exit', (code) => process.exit(code ?? 1));

process.stdin.on('close', () => child.kill('SIGTERM'));
process.stdin.resume();
