/**
 * The tools of the real Agent Server in a place of their own: in namespaces of the process runtime, and as another user
 * in a container.
 */
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { INSIDE } from '../../runtimes/on-host/inside-view.ts';
import { sandboxPlace } from '../../runtimes/on-host/sandbox-place.ts';
import { sandboxPaths } from '../../runtimes/process/sandbox-paths.ts';
import { createDockerHarness } from '../contract/docker-harness.ts';
import { createProcessHarness } from '../contract/process-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { AGENT, describeToolPlace } from './tool-place-suite.ts';

/** Of every process of the host. */
function commandLines(): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  });
}

const NOBODY_IN_PARTICULAR = 10_001;

describeWith('bwrap', 'tools in a place of their own', () => {
  const { harness, sandbox, sh } = describeToolPlace({
    create: () => createProcessHarness('namespaces', AGENT),
    stateOf: ({ options }, id) => sandboxPaths(options, id).agent,
    inside: INSIDE.agent,
  });

  it('is entered by nobody who ends with the first half of bubblewrap, which goes when it likes', async () => {
    const running = sh('sleep 3');
    let entering: readonly string[] = [];
    await expect
      .poll(() => (entering = commandLines().filter((line) => line.includes('--pidns'))))
      .not.toEqual([]);
    for (const line of entering) expect(line).not.toContain('--die-with-parent');
    expect(await running).toBe('0 ');
  });

  it('belongs to a user of its own on the host, where root starts it', () => {
    const paths = sandboxPaths(harness().options, sandbox());
    const own = lstatSync(paths.workspace).uid;
    if (process.getuid?.() === 0) expect(own).toBeGreaterThanOrEqual(1_900_000_000);
    else expect(own).toBe(process.getuid?.());
    expect(lstatSync(path.join(paths.workspace, 'environ')).uid).toBe(own);
    expect(statSync(path.join(paths.agent, 'conversations')).uid).toBe(own);
  });
});

describeWith('dockerd', 'tools that are another user', () => {
  describe('of a container', () => {
    const { harness, sandbox } = describeToolPlace({
      create: () => createDockerHarness({}, AGENT),
      stateOf: ({ options }, id) => sandboxPlace(options, id).agent,
      inside: INSIDE.serverState,
    });

    it('leaves all files to one user of the host, whoever made them', () => {
      const { workspace, agent } = sandboxPlace(harness().options, sandbox());
      const uid = process.getuid?.() === 0 ? NOBODY_IN_PARTICULAR : process.getuid?.();
      for (const file of ['fd', 'environ']) expect(lstatSync(path.join(workspace, file)).uid).toBe(uid);
      expect(statSync(path.join(agent, 'conversations')).uid).toBe(uid);
    });
  });
});
