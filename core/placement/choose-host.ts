/**
 * Which host gets a new sandbox, for runtimes whose sandboxes live on one (D33).
 * Pure: hosts come in, a choice or the reason why there is none goes out; must not reserve anything.
 */

/** `spread`: the emptiest first; `pack`: the fullest that has room, so that others stay empty and can be taken away. */
export const HOST_STRATEGIES = ['spread', 'pack'] as const;
export type HostStrategy = (typeof HOST_STRATEGIES)[number];

/** A host's name is part of the names of task queues, behind an `@`. */
export const HOST_NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Name of a label of a host. */
export const HOST_LABEL_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/;

/** Characters of a label's value. */
export const HOST_LABEL_VALUE_MAX = 128;
/** Labels that one placement may require. */
export const HOST_LABELS_MAX = 32;

/** Labels of a host, or labels that it must have. */
export type HostLabels = Readonly<Record<string, string>>;

/** A host as placement sees it. */
export interface HostCandidate {
  readonly name: string;
  readonly runtime: string;
  /** Sandboxes with the runtime up, at most. */
  readonly capacity: number;
  readonly up: number;
  readonly labels: HostLabels;
  /** Its lease runs. */
  readonly isLive: boolean;
  /** It takes no new sandbox any more. */
  readonly draining: boolean;
}

/** How a deployment fills its hosts. */
export interface HostPolicy {
  readonly runtime: string;
  readonly strategy: HostStrategy;
}

/** What a job requires of the host of its sandboxes. */
export interface HostPin {
  /** The one host that will do; absent: any. */
  readonly name?: string | undefined;
  /** Each of them must be a label of the host, with this value. */
  readonly labels?: HostLabels | undefined;
}

/** What a host must have to take a sandbox. */
export interface HostRequirement extends HostPolicy, HostPin {
  /** For what lives there already. */
  readonly alsoDraining?: boolean;
}

/** The hosts that a waiter waits for. */
export interface HostWait {
  /** In words: which, what is wrong with them, and what ends the wait. */
  readonly said: string;
  /** Those that would do as soon as there is room on them. */
  readonly hosts: readonly string[];
}

/** The host, or why there is none. */
export type HostChoice =
  | { readonly kind: 'chosen'; readonly name: string }
  /** The hosts that fit have no room or no running lease at the moment: a later request may succeed. */
  | { readonly kind: 'full'; readonly limit: number; readonly current: number; readonly waitsFor?: HostWait }
  /** No host that is known will ever do. */
  | { readonly kind: 'none'; readonly reason: string };

/** Longer lists of names do not help. */
const NAMES_MAX = 10;

/**
 * The host for one sandbox: of those that fit and have room, the emptiest to spread, the fullest to pack; ties by
 * name.
 */
export function chooseHost(required: HostRequirement, hosts: readonly HostCandidate[]): HostChoice {
  const fitting = hosts.filter((host) => fits(host, required)).sort(byName);
  if (fitting.length === 0) return { kind: 'none', reason: whyNone(required, hosts) };
  const { alsoDraining = false } = required;
  const open = fitting.filter(({ isLive, draining }) => isLive && (alsoDraining || !draining));
  const [first] = open.filter(({ up, capacity }) => up < capacity).sort(ORDER[required.strategy]);
  if (first !== undefined) return { kind: 'chosen', name: first.name };
  const limit = open.reduce((sum, { capacity }) => sum + capacity, 0);
  const current = open.reduce((sum, { up }) => sum + up, 0);
  if (!isPinned(required)) return { kind: 'full', limit, current };
  const said = whatFor(required, fitting, { limit, current });
  return { kind: 'full', limit, current, waitsFor: { said, hosts: open.map(({ name }) => name) } };
}

function fits(host: HostCandidate, required: HostRequirement): boolean {
  return host.runtime === required.runtime && fitsPin(host, required);
}

/** Whether a sandbox that lives there satisfies a request with this pin. */
export function fitsPin(
  host: Pick<HostCandidate, 'name' | 'labels'>,
  { name, labels = {} }: HostPin,
): boolean {
  if (name !== undefined && host.name !== name) return false;
  return Object.entries(labels).every(
    ([label, value]) => Object.hasOwn(host.labels, label) && host.labels[label] === value,
  );
}

/** The hosts that a job names; undefined where it names none. */
export function hostPin({
  host: name,
  labels,
}: {
  readonly host?: string | undefined;
  readonly labels?: HostLabels | undefined;
}): HostPin | undefined {
  const pin = { ...(name === undefined ? {} : { name }), ...(labels === undefined ? {} : { labels }) };
  return isPinned(pin) ? pin : undefined;
}

function isPinned({ name, labels = {} }: HostPin): boolean {
  return name !== undefined || Object.keys(labels).length > 0;
}

/** The error for a job or a start that names a host where none is known. */
export const NO_HOSTS = 'sandboxes of this deployment are bound to no host';

/** `the host "gpu-1"`, `a host with the labels gpu: a100`. */
export function describePin({ name, labels = {} }: HostPin): string {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}: ${value}`);
  const having = wanted.length === 0 ? '' : ` with the labels ${wanted.join(', ')}`;
  return name === undefined ? `a host${having}` : `the host "${name}"${having}`;
}

/** The known hosts that a waiter waits for, and what ends the wait. */
function whatFor(
  pin: HostPin,
  fitting: readonly HostCandidate[],
  { limit, current }: { readonly limit: number; readonly current: number },
): string {
  const said = describePin(pin);
  if (limit > 0) return `${said} (${current} of ${limit} in use)`;
  const [draining] = fitting.filter(({ isLive }) => isLive);
  if (draining !== undefined) return `${said}, which drains: parley hosts undrain ${draining.name}`;
  const [away] = fitting;
  return `${said}, whose lease is over: start its worker${away === undefined ? '' : ` on ${away.name}`}`;
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
  const who = name === undefined ? 'no host has' : `the host "${name}" does not have`;
  return `${who} the labels ${wanted.join(', ')}; there are ${listed}`;
}
