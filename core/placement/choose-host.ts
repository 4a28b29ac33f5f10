/**
 * Which host gets a new sandbox, for runtimes whose sandboxes live on one (D33).
 * Pure: hosts come in, a choice or the reason why there is none goes out; must not reserve anything.
 */

/** `spread`: the emptiest first; `pack`: the fullest that has room, so that others stay empty and can be taken away. */
export const HOST_STRATEGIES = ['spread', 'pack'] as const;
export type HostStrategy = (typeof HOST_STRATEGIES)[number];

export type HostLabels = Readonly<Record<string, string>>;

export interface HostCandidate {
  readonly name: string;
  readonly runtime: string;
  /** Sandboxes with the runtime up, at most. */
  readonly capacity: number;
  readonly up: number;
  readonly labels: HostLabels;
  /** Its lease runs. */
  readonly isLive: boolean;
  /** It hands nothing out any more. */
  readonly draining: boolean;
}

/** How a deployment fills its hosts. */
export interface HostPolicy {
  readonly runtime: string;
  readonly strategy: HostStrategy;
}

/** What a job asks of the host of its sandboxes. */
export interface HostPin {
  /** The one host that will do; absent: any. */
  readonly name?: string | undefined;
  /** Each of them must be a label of the host, with this value. */
  readonly labels?: HostLabels | undefined;
}

export interface HostRequirement extends HostPolicy, HostPin {
  /** For what lives there already. */
  readonly alsoDraining?: boolean;
}

export type HostChoice =
  | { readonly kind: 'chosen'; readonly name: string }
  /** Those that would do have no room, or are not there at the moment: it may be had later. */
  | { readonly kind: 'full'; readonly limit: number; readonly current: number }
  /** No host that is known will ever do. */
  | { readonly kind: 'none'; readonly reason: string };

/** Longer lists of names help nobody. */
const NAMES_MAX = 10;

export function chooseHost(required: HostRequirement, hosts: readonly HostCandidate[]): HostChoice {
  const fitting = hosts.filter((host) => fits(host, required));
  if (fitting.length === 0) return { kind: 'none', reason: whyNone(required, hosts) };
  const { alsoDraining = false } = required;
  const open = fitting.filter(({ isLive, draining }) => isLive && (alsoDraining || !draining));
  const [first] = open.filter(({ up, capacity }) => up < capacity).sort(ORDER[required.strategy]);
  if (first !== undefined) return { kind: 'chosen', name: first.name };
  return {
    kind: 'full',
    limit: open.reduce((sum, { capacity }) => sum + capacity, 0),
    current: open.reduce((sum, { up }) => sum + up, 0),
  };
}

function fits(host: HostCandidate, { runtime, name, labels = {} }: HostRequirement): boolean {
  if (host.runtime !== runtime || (name !== undefined && host.name !== name)) return false;
  return Object.entries(labels).every(
    ([label, value]) => Object.hasOwn(host.labels, label) && host.labels[label] === value,
  );
}

type Order = (a: HostCandidate, b: HostCandidate) => number;

/** By the share that is taken, not by the count: a small host is as full with few as a large one with many. */
const byShare: Order = (a, b) => a.up * b.capacity - b.up * a.capacity;
const byName: Order = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

const ORDER: Readonly<Record<HostStrategy, Order>> = {
  spread: (a, b) => byShare(a, b) || byName(a, b),
  pack: (a, b) => byShare(b, a) || byName(a, b),
};

function whyNone({ runtime, name, labels = {} }: HostRequirement, hosts: readonly HostCandidate[]): string {
  const ofRuntime = hosts.filter((host) => host.runtime === runtime);
  if (ofRuntime.length === 0) return `there is no host for the runtime "${runtime}"`;
  const names = ofRuntime.map((host) => host.name).sort();
  const listed = names.slice(0, NAMES_MAX).join(', ') + (names.length > NAMES_MAX ? ', …' : '');
  if (name !== undefined && !names.includes(name)) return `there is no host "${name}", but ${listed}`;
  const wanted = Object.entries(labels).map(([label, value]) => `${label}: ${value}`);
  return `no host has the labels ${wanted.join(', ')}; there are ${listed}`;
}
