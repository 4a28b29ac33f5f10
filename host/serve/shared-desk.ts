/**
 * Saving and deploying the configuration that processes over one database share: the next version, or none.
 * Owns the order: the version that was read, the check, the next one, then what every process makes of it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type {
  ConfigurationChange,
  ConfigurationDesk,
  ConfigurationOutcome,
  ConfigurationState,
} from '../../api/configuration/configuration-desk.ts';
import type { ProxyPeers, ServingPeer } from '../../ports/proxy-peers.ts';
import type { ConfigurationVersion } from '../../ports/shared-configuration.ts';
import { revisionOf } from '../config/text-revision.ts';
import { readConfiguration } from '../follow/configuration-file.ts';
import { errorsOf, type FollowedConfiguration } from '../follow/followed-configuration.ts';
import type { FollowedVersion } from '../follow/followed-version.ts';
import { findingOf, NO_MAPPING } from './configuration-desk.ts';
import { fieldsOf, followedPart, withFields } from './configuration-text.ts';

export interface SharedDeskParts {
  readonly followed: FollowedConfiguration;
  readonly version: FollowedVersion;
  readonly peers: Pick<ProxyPeers, 'serving'>;
}

/** A process receives a version with its next beat and says at the one after how it stands. */
const TOLD_MS_MAX = 5_000;
const TOLD_POLL_MS = 200;

export function openSharedDesk(parts: SharedDeskParts): ConfigurationDesk {
  return { state: () => stateOf(parts), change: (revision, change) => deploy(parts, revision, change) };
}

/** Before the first version: what the file of this process says of it. */
async function newestOf({ followed, version }: SharedDeskParts): Promise<ConfigurationVersion> {
  const newest = await version.versions.newest();
  return newest ?? { version: 0, text: followedPart(readConfiguration(followed.file)) };
}

async function stateOf(parts: SharedDeskParts): Promise<ConfigurationState> {
  const { followed, peers } = parts;
  const { version, text } = await newestOf(parts);
  const { deployment, inForce, standing } = followed;
  const others = (await peers.serving()).flatMap((peer) => heldBack(peer, version));
  return {
    path: version === 0 ? followed.file : `version ${version} in the database`,
    text,
    revision: revisionOf(text),
    fields: fieldsOf(text, deployment),
    overridden: inForce.reading.values.filter(({ source }) => source === 'env').map((one) => one.path),
    needs_restart: [...standing.needsRestart],
    warnings: others,
  };
}

async function deploy(
  parts: SharedDeskParts,
  revision: string,
  change: ConfigurationChange,
): Promise<ConfigurationOutcome> {
  const { followed, version } = parts;
  const before = await newestOf(parts);
  if (revisionOf(before.text) !== revision) return { kind: 'outdated' };
  const text = change.kind === 'text' ? change.text : withFields(before.text, change.fields);
  if (text === null) return { kind: 'refused', findings: [NO_MAPPING] };
  const next = { version: before.version + 1, text };
  const { config, problems } = await followed.load(followed.file, next);
  const errors = errorsOf(problems);
  if (config === null || errors.length > 0) return { kind: 'refused', findings: errors.map(findingOf) };
  const earlier = followed.inForce;
  if (!(await version.versions.put(next, Date.now()))) return { kind: 'outdated' };
  await version.take(next);
  await everyoneTold(parts, next.version);
  const state = await stateOf(parts);
  const applied = followed.changedSince(earlier);
  return { kind: 'deployed', state, applied, warnings: problems.map(({ message }) => message) };
}

/** A process that says nothing in this time is named as one that has not taken it. */
async function everyoneTold({ peers }: SharedDeskParts, version: number): Promise<void> {
  const until = Date.now() + TOLD_MS_MAX;
  const isAwaited = ({ kind, configuration }: ServingPeer): boolean =>
    kind !== 'run' && !hasVersion(configuration.version, version) && configuration.refused === null;
  while (Date.now() < until && (await peers.serving()).some(isAwaited)) await pause(TOLD_POLL_MS);
}

function heldBack({ kind, name, configuration }: ServingPeer, newest: number): readonly string[] {
  const { version, refused } = configuration;
  if (newest === 0 || hasVersion(version, newest)) return [];
  const why = refused ?? (kind === 'run' ? 'it ends with what it began with' : 'it has not looked yet');
  return [`The ${kind} "${name}" goes by ${version === null ? 'its file' : `version ${version}`}: ${why}`];
}

function hasVersion(has: number | null, newest: number): boolean {
  return has !== null && has >= newest;
}
