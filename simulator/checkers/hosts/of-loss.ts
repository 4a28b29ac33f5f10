/**
 * Invariants of which worker acts for a host, and of what becomes of the sandboxes of a lost one (D33).
 * Owns the checks on leases, fences and losses, after steps and at rest.
 */
import { HOST_LOSSES_MAX } from '../../../core/limits.ts';
import type { ActivityCommandType } from '../../../core/machine/command.ts';
import { HOST_LOST } from '../../../core/machine/projection.ts';
import { isInFlight, type RunItem, type RunState } from '../../../core/run/state.ts';
import { attachedIds, type SandboxState } from '../../../core/sandbox/state.ts';
import type { HostAct, HostGivenUp } from '../../hosts/host-facts.ts';
import { type Finding, type Moment, PUNCTUAL, type Rest, type SafetyCheck } from '../checker.ts';
import { changedItems } from '../of-runs.ts';
import { conversationsAt, sandboxesAt } from '../of-rest.ts';
import { unseen } from './of-placement.ts';

/**
 * H1: of the leases of a host one acts at a time: no worker acts with a fence that is over, and none after a newer one
 * (D33). It remembers the newest fence that acted; a worker that is cut off cannot know that its host was given up.
 */
export function oneFenceActs(): SafetyCheck {
  const added = unseen<HostAct>();
  const newest = new Map<string, number>();
  return ({ facts }) => {
    let problem: string | null = null;
    for (const { host, fence, storeFence, isCutOff, command } of added(facts.hosts?.acts ?? [])) {
      if (host === null) continue;
      const other = newest.get(host) ?? 0;
      newest.set(host, Math.max(other, fence));
      if (fence < other)
        problem ??= `${command} is carried out on ${host} with fence ${fence}, after ${other}`;
      if (fence !== storeFence && !isCutOff)
        problem ??= `${command} is carried out on ${host} with fence ${fence}, and ${storeFence} counts`;
    }
    return problem;
  };
}

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

/**
 * H2: what reaches into a sandbox is carried out by the host on which it lives, and by no other (D33). Owns the list of
 * what reaches into one, which is not that of the rules; must not know which worker carries out what.
 */
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

/** A lease is renewed six times in the time that it runs. */
const RENEWALS = 6;

/**
 * H8: a host is given up when its lease is over and not before, and nothing of a host that is there is called lost
 * (D33). Owns the comparison with the last sign of life; one renewal may be under way when it falls silent.
 */
export function givenUpInTime(): SafetyCheck {
  const added = unseen<HostGivenUp>();
  const lost = new Set<string>();
  return ({ step, facts: { hosts } }) => {
    if (hosts === undefined || hosts === null) return null;
    const { leaseMs, silentMs = 0 } = hosts.setting;
    for (const { at, host, heardUntil } of added(hosts.givenUp)) {
      lost.add(host);
      if (at < heardUntil + leaseMs - leaseMs / RENEWALS + silentMs)
        return `${host} is given up ${at - heardUntil} ms after its last sign of life, and its lease is ${leaseMs} ms and ${silentMs} more`;
    }
    if (step.address.machine !== 'sandbox' || step.event.type !== 'hostLost') return null;
    const home = hosts.homeOf(step.address.id as Parameters<typeof hosts.homeOf>[0]);
    return home !== null && lost.has(home)
      ? null
      : `its host ${home ?? ''} is called lost, and was not given up`;
  };
}

/**
 * H9: what lived on a lost host is `MISSING` from then on, because of the host, with every conversation in it notified
 * (D33). Owns the check on the step that receives the loss.
 */
export function lostForGood({ step }: Moment): string | null {
  if (step.event.type !== 'hostLost') return null;
  const { status, detail, phase } = step.after as SandboxState;
  if (status !== 'MISSING' || phase !== 'missing') return `its host was lost, and it is ${phase}`;
  if (detail !== HOST_LOST) return `its host was lost, and it says: ${detail ?? 'nothing'}`;
  const told = new Set(
    step.commands.flatMap((command) =>
      command.type === 'send' && command.event.type === 'sandboxNoticed' ? [command.to.id] : [],
    ),
  );
  const untold = attachedIds(step.after as SandboxState).find((id) => !told.has(id));
  return untold === undefined ? null : `its host was lost, and conversation ${untold} is not told`;
}

/**
 * H10: an attempt that ends because its host was given up takes no try, and its item begins again (D33). It remembers
 * how often that happened to an item; more often than the limit allows it is a failure like any other.
 */
export function noTryForAHost(): SafetyCheck {
  const losses = new Map<string, number>();
  return (moment) => {
    const { machine, id } = moment.step.address;
    if (moment.facts.hosts === undefined || moment.facts.hosts === null) return null;
    if (machine !== 'run' && machine !== 'shard') return null;
    for (const { before, after, state } of endedByHost(moment)) {
      const key = `${machine}/${id}/${after.key}`;
      const count = (losses.get(key) ?? 0) + 1;
      losses.set(key, count);
      if (count > HOST_LOSSES_MAX || state.mode === 'cancelling') continue;
      if (JSON.stringify(after.failures) !== JSON.stringify(before.failures))
        return `its host was lost, and item ${after.key} has used a try: ${JSON.stringify(after.failures)}`;
      if (after.phase !== 'waiting') return `its host was lost, and item ${after.key} does not begin again`;
    }
    return null;
  };
}

interface Ended {
  readonly before: RunItem;
  readonly after: RunItem;
  readonly state: RunState;
}

function endedByHost(moment: Moment): readonly Ended[] {
  const state = moment.step.after as RunState;
  const past = moment.step.before as RunState | null;
  return changedItems(moment).flatMap((position) => {
    const [before, after] = [past?.items[position], state.items[position]];
    if (before === undefined || after === undefined || !isInFlight(before) || isInFlight(after)) return [];
    return isByHost(after) ? [{ before, after, state }] : [];
  });
}

function isByHost({ ending }: RunItem): boolean {
  return ending?.failureClass === 'infra' && ending.detail?.endsWith(`: ${HOST_LOST}`) === true;
}

/**
 * L12: nothing lives on a host whose lease is over for long: its sandboxes are `MISSING`, and the name is free again
 * (D33). Owns the check on hosts and sandboxes at rest.
 */
export function nobodyOnTheLost(rest: Rest): readonly Finding[] {
  const { hosts } = rest.facts;
  if (hosts === undefined || hosts === null) return [];
  const { settleMs } = rest.timeliness ?? PUNCTUAL;
  const { leaseMs, silentMs = 0 } = hosts.setting;
  const patienceMs = 2 * leaseMs + silentMs + settleMs;
  const gone = new Set<string>();
  for (const { name, leaseUntil } of hosts.all())
    if (leaseUntil !== null && leaseUntil + patienceMs < rest.now) gone.add(name);
  if (gone.size === 0) return [];
  return sandboxesAt(rest).flatMap(({ entity, state: { sandboxId, status } }) => {
    const home = hosts.homeOf(sandboxId);
    if (status === 'MISSING' || home === null || !gone.has(home)) return [];
    return [{ entity, problem: `it is ${status} on ${home}, whose lease is over` }];
  });
}

/**
 * L13: a conversation whose host was lost is read-only: no agent works in it, and nothing waits for its sandbox (D33).
 * Owns the check on conversations at rest.
 */
export function readOnlyAfterAHost(rest: Rest): readonly Finding[] {
  if (rest.facts.hosts === undefined || rest.facts.hosts === null) return [];
  const lost = new Set<string>(
    sandboxesAt(rest).flatMap(({ state: { sandboxId, status, detail } }) =>
      status === 'MISSING' && detail === HOST_LOST ? [sandboxId] : [],
    ),
  );
  return conversationsAt(rest).flatMap(({ entity, state }) => {
    const { sandboxId, sandbox, phase, agentActivity, queue } = state;
    if (phase !== 'active' || sandboxId === null || !lost.has(sandboxId)) return [];
    if (sandbox?.status !== 'MISSING')
      return [{ entity, problem: 'its host was lost, and it does not know' }];
    if (agentActivity === 'working') return [{ entity, problem: 'its host was lost, and its agent works' }];
    return queue.length > 0 ? [{ entity, problem: 'its host was lost, and something waits in it' }] : [];
  });
}
