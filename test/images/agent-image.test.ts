/** `parley image build` by a real daemon: OpenCode from npm in an image, found by its name, without a network. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { agentFolder, AGENT_VERSIONS } from '../../scripts/acp-agents.js';
import { closeDaemon, dockerSocket } from '../../scripts/docker-daemon.ts';
import { docker, MACHINE_BASE, makeBaseImage } from '../../scripts/machine-images.ts';
import { parley } from '../cli/parley-program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { describeWith, missing } from '../helpers/requires.ts';

const TAG = 'parley-test-opencode:1';
const MS_MAX = 1_800_000;
const SHIPPED = [
  '--rm',
  '--read-only',
  '--network',
  'none',
  '--cap-drop',
  'ALL',
  '--tmpfs',
  '/tmp:exec,mode=1777',
];

describeWith('acp-agents', 'an image with an agent', () => {
  afterAll(closeDaemon);

  it(
    'is refused without the agent, has a recipe that names version and integrity, and is built and started',
    async () => {
      const cwd = tempDir();
      writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: data }\n');
      const absent = await parley(['image', 'build', '--agent', 'opencode', '--print'], { cwd });
      expect(absent.exitCode).toBe(2);
      expect(absent.stderr).toContain('install it: parley agent add opencode');
      const added = await parley(
        ['agent', 'add', 'opencode', '--from', agentFolder('opencode', process.env) ?? ''],
        {
          cwd,
        },
      );
      expect(added.exitCode, added.stderr).toBe(0);
      const printed = await parley(['image', 'build', '--agent', 'opencode', '--print'], { cwd });
      expect(printed.stdout).toContain(`opencode ${AGENT_VERSIONS.opencode} (folder:`);
      expect(printed.stdout).toContain(
        `ARG SANDBOX_IMAGE=parley-sandbox-opencode:${AGENT_VERSIONS.opencode}-sandbox`,
      );
      const written = await parley(['image', 'build', '--agent', 'opencode', '--context', 'context'], {
        cwd,
      });
      expect(written.exitCode, written.stderr).toBe(0);
      expect(readFileSync(path.join(cwd, 'context/Containerfile'), 'utf8')).toBe(printed.stdout);
      if (missing('dockerd') !== null) return;
      const socket = dockerSocket();
      const command = { socket, env: { DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: '0' } };
      await makeBaseImage(command);
      const words = [
        'image',
        'build',
        '--agent',
        'opencode',
        '--tag',
        TAG,
        '--sandbox-image',
        MACHINE_BASE,
        '--json',
      ];
      const built = await parley(words, { cwd, env: command.env });
      expect(built.exitCode, built.stderr).toBe(0);
      expect(built.stdout).toMatch(
        /"type":"image","tag":"parley-test-opencode:1","id":"sha256:[0-9a-f]{64}"/,
      );
      const said = await docker(
        command,
        ...['run', ...SHIPPED, '--env', 'HOME=/tmp', '--user', '0:0', TAG, 'opencode', '--version'],
      );
      expect(said.trim()).toBe(AGENT_VERSIONS.opencode);
    },
    MS_MAX,
  );
});
