/**
 * README.md, typed as it stands in a folder without a checkout: from an installation into an empty prefix to a service.
 * Owns the typing and what is known of its ports; the commands of a checkout, which begin with `npm`, are not typed.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { freePort } from '../../loopback/free-port.ts';
import { ROOT } from '../cli/parley-program.ts';
import { printedBlocks } from '../helpers/printed-commands.ts';

const PAGE = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const OF_A_CHECKOUT = /^npm (start|test)\b/;
const IS_SERVER = /^parley (serve|proxy) /;

function lines(): readonly string[] {
  return printedBlocks(PAGE).flatMap((block) => block.trim().split('\n'));
}

export interface TypedPage {
  readonly code: number | null;
  readonly text: string;
  readonly typed: readonly string[];
  readonly untyped: readonly string[];
}

/** `folder` is empty, `prefix` too; `packed` is put into the folder under the name of the page. */
export async function typeReadme(folder: string, prefix: string, packed: string): Promise<TypedPage> {
  copyFileSync(packed, path.join(folder, 'parley-0.1.0.tgz'));
  const [untyped, typed] = [true, false].map((is) =>
    lines().filter((line) => OF_A_CHECKOUT.test(line) === is),
  );
  const ports = [String(await freePort()), String(await freePort())];
  const shell = (typed ?? []).map((line) => (IS_SERVER.test(line) ? served(line, ports) : line));
  // A service is typed in a folder of `parley init`, as the page says.
  const at = shell.findIndex((line) => line.startsWith('export '));
  const script = ['set -e', ...shell.slice(0, at), 'parley init', ...shell.slice(at)].join('\n');
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^PARLEY_|^npm_config_prefix$/i.test(name),
  );
  const child = spawn('bash', ['-s'], {
    cwd: folder,
    env: {
      ...Object.fromEntries(inherited),
      npm_config_prefix: prefix,
      PATH: `${path.join(prefix, 'bin')}:${process.env['PATH'] ?? ''}`,
      NO_COLOR: '1',
    },
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
  child.stderr.setEncoding('utf8').on('data', (more: string) => (text += more));
  child.stdin.end(`${script}\n`);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, text, typed: typed ?? [], untyped: untyped ?? [] };
}

/** Until it listens, and then Ctrl-C. */
function served(line: string, ports: readonly string[]): string {
  const [command = ''] = line.split('#');
  const isProxy = command.includes('--port 4000');
  const typed = isProxy ? command.replace('4000', ports[0] ?? '') : `${command} --port ${ports[1]}`;
  const log = isProxy ? 'proxy.log' : 'serve.log';
  return [
    `${typed} > ${log} 2>&1 &`,
    `until grep -q '127.0.0.1:' ${log}; do kill -0 $! || { cat ${log}; exit 1; }; sleep 0.2; done`,
    `kill $!; wait $! || true; cat ${log}`,
  ].join('\n');
}

/** A page whose commands are no longer typed would pass unseen. */
export function expectTyped({ code, text, typed, untyped }: TypedPage): void {
  expect(code, text).toBe(0);
  expect(untyped.length).toBe(3);
  expect(typed.filter((line) => line.startsWith('parley ')).length).toBeGreaterThan(6);
  expect(text).toContain('run: finished');
  expect(text).toContain('job.yaml: ok, 3 conversations');
}
