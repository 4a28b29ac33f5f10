/** Java's own HTTP client, as it is by default, against `parley serve`: from a start to the download of what was made. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { serveFirst } from '../api/first-service.ts';
import { describeWith } from '../helpers/requires.ts';

const ALL_MS_MAX = 600_000;

async function runJava(args: readonly string[]): Promise<readonly string[]> {
  const program = path.join(import.meta.dirname, 'JavaClient.java');
  const java = spawn('java', [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [said, complained] = await Promise.all([text(java.stdout), text(java.stderr), once(java, 'close')]);
  expect(java.exitCode, complained).toBe(0);
  return said.trim().split('\n');
}

describeWith('java', "Java's HttpClient", () => {
  it(
    'starts, polls, reads, streams and downloads with what "parley init" wrote',
    async () => {
      const served = await serveFirst();
      const lines = await runJava([served.url, served.key ?? '']);
      expect(lines).toEqual([
        'status FINISHED',
        // The start named none: it is the one that is configured.
        'model coder',
        'file "hello\\n"',
        'head 200 0',
        expect.stringMatching(/^entries meta\.json event_0+1?_.*\.json/),
        'streamed id: 1',
        'deleted 200',
      ]);
    },
    ALL_MS_MAX,
  );
});
