/**
 * H2: what reaches into a sandbox is carried out by the host on which it lives, and by nobody else (D33).
 * Owns the list of what reaches into one, which is not that of the rules; must not know who is to carry out what.
 */
import type { ActivityCommandType } from '../../../core/machine/command.ts';
import type { HostAct } from '../../hosts/host-facts.ts';
import type { SafetyCheck } from '../checker.ts';
import { unseen } from './unseen.ts';

const IN_A_SANDBOX: ReadonlySet<ActivityCommandType> = new Set<ActivityCommandType>([
  'createSandbox',
  'resumeSandbox',
  'stopSandbox',
  'archiveWorkspace',
  'destroySandbox',
  'watchIdle',
  'prepareRepository',
  'runSetupScript',
  'setUpGitHooks',
  'setUpSkills',
  'openAgent',
  'deliverItem',
  'watchAgent',
  'interruptAgent',
  'verifyItem',
  'collectItem',
]);

export function ownHostActs(): SafetyCheck {
  const added = unseen<HostAct>();
  return ({ facts: { hosts } }) => {
    for (const { host, sandboxId, command, hasDisk } of added(hosts?.acts ?? [])) {
      const home = hosts?.homeOf(sandboxId) ?? null;
      if (!IN_A_SANDBOX.has(command)) continue;
      if (host === home && !hasDisk)
        return `${command} of ${sandboxId} is carried out on another disk of ${host}`;
      if (host !== home)
        return `${command} of ${sandboxId} is carried out by ${host ?? 'any worker'}, and it lives on ${home ?? 'no host'}`;
    }
    return null;
  };
}
