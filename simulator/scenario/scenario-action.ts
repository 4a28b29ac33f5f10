/**
 * What a scenario lets happen at an instant: which entity it strikes, and how that reaches an entity or the world.
 * Owns the choice among conversations and sandboxes; what they make of it is decided by the rules.
 */
import type { ConversationId, SandboxId } from '../../core/ids.ts';
import { isInFlight } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { ScenarioAction, ScenarioTarget } from '../../dsl/scenario/scenario.ts';
import { befall, pass, type HostIncident } from '../hosts/host-incident.ts';
import type { Loss } from '../models/runtime-model.ts';
import { RUN_ADDRESS, type PlanPlay } from '../plan-play.ts';
import { concurrency, CONVERSATION_REQUESTS, message, RUN_REQUESTS, SANDBOX_REQUESTS } from '../requests.ts';

/** What an action can reach. */
type ActionStage = Pick<PlanPlay, 'run' | 'simulation' | 'world'>;

const LOSSES = { crash: 'crashed', lose: 'gone', disconnect: 'unknown' } as const satisfies Record<
  string,
  Loss
>;

/** Returns how many it struck: 0 when no entity fits. `requestId` is unique in the play. */
export function strike(stage: ActionStage, action: ScenarioAction, requestId: string): number {
  const { simulation, world } = stage;
  switch (action.do) {
    case 'gateway':
      world.agents.strike({ status: action.status, until: simulation.now() + action.forMs });
      return 1;
    case 'host':
      return befallHost(stage, { name: `host_${action.is}`, host: action.host, forMs: action.forMs });
    case 'cancel_run':
      simulation.deliver(RUN_ADDRESS, RUN_REQUESTS.cancel(requestId));
      return 1;
    case 'drain_run':
      simulation.deliver(RUN_ADDRESS, RUN_REQUESTS.drain(requestId));
      return 1;
    case 'concurrency':
      simulation.deliver(RUN_ADDRESS, concurrency(requestId, action.value));
      return 1;
    case 'message':
    case 'interrupt':
    case 'access':
    case 'confirm':
    case 'remove': {
      const ids = conversationsOf(stage, action.conversation);
      for (const [index, id] of ids.entries()) say(stage, action, { id, requestId: `${requestId}/${index}` });
      return ids.length;
    }
    default: {
      const ids = sandboxesOf(stage, action);
      for (const [index, id] of ids.entries())
        act(stage, action.do, { id, requestId: `${requestId}/${index}` });
      return ids.length;
    }
  }
}

function befallHost({ simulation, world: { hosts } }: ActionStage, incident: HostIncident): number {
  if (hosts === null) return 0;
  befall(hosts, incident);
  simulation.script(simulation.now() + incident.forMs, () => pass(hosts, incident));
  return 1;
}

type SandboxAction = Extract<ScenarioAction, { readonly sandbox: ScenarioTarget }>;
type ConversationAction = Extract<ScenarioAction, { readonly conversation: ScenarioTarget }>;

function act(
  { simulation, world }: ActionStage,
  what: SandboxAction['do'],
  { id, requestId }: { readonly id: SandboxId; readonly requestId: string },
): void {
  const to = { machine: 'sandbox', id } as const;
  switch (what) {
    case 'crash':
    case 'lose':
    case 'disconnect':
      return world.lose(id, LOSSES[what]);
    case 'reconnect':
      return world.find(id);
    case 'pause':
    case 'resume':
    case 'delete':
      return simulation.deliver(to, SANDBOX_REQUESTS[what](requestId));
  }
}

function say(
  { simulation, world }: ActionStage,
  action: ConversationAction,
  { id, requestId }: { readonly id: ConversationId; readonly requestId: string },
): void {
  const to = { machine: 'conversation', id } as const;
  switch (action.do) {
    case 'message':
      world.accepted.set(requestId, id);
      return simulation.deliver(to, message(requestId, action.text));
    case 'interrupt':
    case 'access':
    case 'confirm':
    case 'remove':
      return simulation.deliver(to, CONVERSATION_REQUESTS[action.do](requestId));
  }
}

function conversationsOf({ run, simulation, world }: ActionStage, target: ScenarioTarget): ConversationId[] {
  const started = (run?.items ?? []).flatMap((item) => {
    const { key, conversationId: id, admittedAt } = item;
    return id === null ? [] : [{ key, id, since: admittedAt ?? 0, isUp: isInFlight(item) }];
  });
  if ('key' in target) return started.filter(({ key }) => key === target.key).map(({ id }) => id);
  const up = started.filter(({ isUp }) => isUp);
  return picked(up, target.pick, (id) => world.agents.find(id)?.lastActivityAt(simulation.now()) ?? 0);
}

/** Those that are up; a resume is for those that are not. */
function sandboxesOf(
  { run, simulation, world }: ActionStage,
  { do: what, sandbox }: SandboxAction,
): SandboxId[] {
  if ('key' in sandbox) {
    const id = run?.items.find(({ key }) => key === sandbox.key)?.sandboxId ?? null;
    return id === null ? [] : [id];
  }
  const wanted = what === 'resume' ? 'released' : 'running';
  const candidates = [...simulation.all()].flatMap(({ address, state }) => {
    if (address.machine !== 'sandbox') return [];
    const { phase, sandboxId: id, createdAt: since } = state as SandboxState;
    return phase === wanted ? [{ id, since }] : [];
  });
  return picked(candidates, sandbox.pick, (id) => world.lastActivityAt(id, simulation.now()));
}

/** The first of equals wins. */
function picked<Id>(
  candidates: readonly { readonly id: Id; readonly since: number }[],
  pick: 'oldest' | 'newest' | 'longest_idle' | 'all',
  lastActivityAt: (id: Id) => number,
): Id[] {
  if (pick === 'all') return candidates.map(({ id }) => id);
  const rank = ({ id, since }: (typeof candidates)[number]): number => {
    if (pick === 'longest_idle') return lastActivityAt(id);
    return pick === 'oldest' ? since : -since;
  };
  const [first] = [...candidates].sort((a, b) => rank(a) - rank(b));
  return first === undefined ? [] : [first.id];
}
