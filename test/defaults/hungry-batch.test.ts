/**
 * A real batch on defaults, larger than them in each way: more conversations than sandboxes, and among them some that
 * take more steps, processes, memory, room in a file or on the disk than one may have. Each ends at its bound, with
 * a message, and no other conversation is affected.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { copyBatch } from '../e2e/batch-copy.ts';
import { runProgram } from '../e2e/running-program.ts';
import { recordsIn } from '../e2e/upgrade-batch.ts';
import { describeWith } from '../helpers/requires.ts';

const ALL_MS_MAX = 600_000;
const MODEST = 11;

interface Hungry {
  /** What the agent does before it says that it is done. */
  readonly commands: readonly string[];
  /** What its work must have come to. */
  readonly verify?: string;
}

const FORK = 'my $p = fork; if (!defined $p) { print $n; last } if (!$p) { sleep 60; exit }';

const HUNGRY: Readonly<Record<string, Hungry>> = {
  steps: { commands: Array.from({ length: 600 }, (_, step) => `echo ${step} > steps.txt`) },
  processes: {
    commands: [
      `setsid -w perl -e '$| = 1; my $n = 0; while ($n++ < 700) { ${FORK} } kill 9, 0' > processes.txt`,
    ],
    verify: 'test "$(cat processes.txt)" -lt 512',
  },
  memory: {
    commands: [
      `node -e "const a=[];for(let i=0;i<4200;i++)a.push(Buffer.alloc(1048576,1))"; echo $? > memory.txt`,
    ],
    verify: 'test "$(cat memory.txt)" = 137',
  },
  file: {
    commands: [
      'truncate -s 4096M fits; echo $? > file.txt; truncate -s 4097M big; echo $? >> file.txt; rm -f fits big',
    ],
    verify: 'test "$(head -n 1 file.txt)" = 0 && test "$(tail -n 1 file.txt)" != 0',
  },
  disk: {
    commands: ['for i in 1 2 3 4; do fallocate -l 3G fill-$i; done; sleep 120'],
  },
};

const finish = { tool: 'finish', arguments: { message: 'done' } };
// A command that says nothing for half a minute is left alone by default, and what it wants takes longer on a busy host.
const runs = (command: string) => ({ tool: 'terminal', arguments: { command, timeout: 240 } });

const gateway = {
  kind: 'gateway-script',
  version: 1,
  keys: [{ key: 'os.environ/PARLEY_GATEWAY_KEY', name: 'hungry' }],
  models: { 'acme/writer-1': { input: '0.2', output: '1' } },
  scripts: [
    ...Object.entries(HUNGRY).map(([name, { commands }]) => ({
      name,
      when: { contains: `hungry for ${name}.` },
      turns: [...commands.map(runs), finish],
    })),
    { name: 'modest', turns: [runs('echo well > text.md'), finish] },
  ],
};

const job = {
  kind: 'job',
  version: 1,
  name: 'hungry',
  defaults: { model: 'writer' },
  // Its gigabytes are of no use, and each further attempt would leave as many.
  retry: [],
  cleanup: { on_collect_failure: 'delete' },
  conversations: [
    ...Object.entries(HUNGRY).map(([id, { verify = 'true' }]) => ({
      id,
      prompt: `I am hungry for ${id}.`,
      verify,
    })),
    { id: 'modest', repeat: MODEST, prompt: 'I am modest.', verify: 'test -s text.md' },
  ],
};

describeWith('bwrap', 'a batch that wants more than the defaults give', () => {
  it(
    'ends each want at its bound, and everybody else succeeds',
    async () => {
      const copy = copyBatch('namespaces', 'three-hundred');
      try {
        writeFileSync(path.join(copy.example, 'gateway.yaml'), JSON.stringify(gateway));
        writeFileSync(path.join(copy.example, 'job.yaml'), JSON.stringify(job));
        const end = await runProgram(copy, 'examples/three-hundred/main.js', ['--json']);
        const items = recordsIn(end.stdout).filter(({ type, phase }) => type === 'item' && phase === 'ended');
        const ended = Object.fromEntries(items.map((item) => [String(item['key']), item]));
        expect(Object.keys(ended), end.stderr).toHaveLength(MODEST + Object.keys(HUNGRY).length);
        const { steps, disk, ...others } = ended;
        expect(steps).toMatchObject({ outcome: 'limit_reached', detail: 'turns' });
        expect(disk).toMatchObject({
          outcome: 'failed',
          failure_class: 'infra',
          detail: expect.stringContaining('it kept more on disk than a sandbox may'),
        });
        for (const item of Object.values(others))
          expect(item).toMatchObject({ outcome: 'succeeded', attempt: 1 });
      } finally {
        copy.close();
      }
    },
    ALL_MS_MAX,
  );
});
