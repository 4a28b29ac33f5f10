/**
 * A host that stays and its configuration file: which hosts poll it, and what they say of it.
 * Owns the choice and the note for a desk in another process; the rule is in host/follow/.
 */
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { Environment } from '../config/effective-values.ts';
import { printProblem } from '../config/problem.ts';
import { removeConfigurationNote, writeConfigurationNote } from './configuration-note.ts';
import { FollowedConfiguration, type FollowParts, type FollowNews } from './followed-configuration.ts';
import { FollowedVersion } from './followed-version.ts';
import type { HostOptions } from '../host-port.ts';
import type { Closers } from '../closers.ts';
import type { PeerLife } from '../../proxy/peers/peer-life.ts';
import type { Store } from '../../store/open-store.ts';
import type { Places } from '../sandboxes/places.ts';

export interface FollowingParts {
  readonly config: DeploymentConfig;
  readonly env: Environment;
  readonly options: HostOptions;
  readonly closers: Closers;
  readonly proxy: FollowParts['proxy'];
  /** Of the owner of a data directory, which writes its standing there; null for a process that queries it. */
  readonly places: Places | null;
}

/** A process that only carries one run out began with a plan and a configuration, and ends with them. */
export function isService({ application, isWorker }: HostOptions): boolean {
  return application !== undefined || isWorker === true;
}

/** Polled from now on, where the host stays; what is opened is left to `closers`. */
export function openFollowedFile(parts: FollowingParts): FollowedConfiguration {
  const { config, env, options, closers, proxy, places } = parts;
  const tell = (text: string): void => options.onNotice(text);
  const followed = new FollowedConfiguration({
    ...{ config, env, proxy, cwd: process.cwd() },
    onNews: (news) => followLines(followed.file, news).forEach(tell),
    onStanding(standing) {
      if (places === null) return;
      try {
        writeConfigurationNote(places, standing);
      } catch (error) {
        // A desk then reports that the configuration of this process is unknown.
        tell(`Cannot say which configuration holds: ${String(error)}`);
      }
    },
  });
  // Also the note of an owner that was killed: it says nothing of this one.
  if (places !== null) {
    removeConfigurationNote(places);
    closers.add(() => removeConfigurationNote(places));
  }
  if (!isService(options)) return followed;
  closers.add(() => followed.close());
  followed.start();
  return followed;
}

interface SharedParts {
  readonly peer: PeerLife | null;
  readonly options: HostOptions;
  readonly store: Pick<Store, 'configuration'>;
}

/** Where several processes share a database: what they have in common, before the first client is served. */
export async function openFollowedVersion(
  followed: FollowedConfiguration,
  { peer, options, store }: SharedParts,
): Promise<FollowedVersion | null> {
  if (peer === null) return null;
  const version = new FollowedVersion(followed, store.configuration);
  await version.begin();
  peer.follow({
    get standing() {
      return version.standing;
    },
    look: (newest) => (isService(options) ? version.look(newest) : Promise.resolve()),
  });
  return version;
}

/** None for a change that changes nothing that is read, such as a comment. */
export function followLines(file: string, news: FollowNews): readonly string[] {
  switch (news.kind) {
    case 'refused':
      return [
        ...news.problems.map((problem) => printProblem(problem).trimEnd()),
        news.version === undefined
          ? `Cannot take up the changed configuration "${file}": it has errors; the earlier one stays in force`
          : `Cannot take up version ${news.version} of the configuration; the earlier one stays in force`,
      ];
    case 'taken': {
      const { applied, needsRestart, warnings, isMended, version } = news;
      const what =
        version === undefined ? 'the changed configuration' : `version ${version} of the configuration`;
      return [
        ...(isMended ? ['the configuration has no errors any more'] : []),
        ...warnings.map((problem) => printProblem(problem).trimEnd()),
        ...(applied.length === 0 ? [] : [`${what} holds from now on: ${applied.join(', ')}`]),
        ...(needsRestart.length === 0 ? [] : [`these hold after the next start: ${needsRestart.join(', ')}`]),
      ];
    }
  }
}
