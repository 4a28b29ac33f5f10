/**
 * This process and the configuration that all over one database share: what it has of it, and why not more.
 * Owns when a version is looked at; what is taken up of it is followed-configuration.ts.
 */
import type { ConfigurationFollower } from '../../proxy/peers/peer-life.ts';
import type {
  ConfigurationStanding,
  ConfigurationVersion,
  SharedConfiguration,
} from '../../ports/shared-configuration.ts';
import { printProblem, type Problem } from '../config/problem.ts';
import type { FollowedConfiguration } from './followed-configuration.ts';

/** A reason is read in a table of processes. */
const REASON_CHARS_MAX = 1_000;

export class FollowedVersion implements ConfigurationFollower {
  readonly versions: SharedConfiguration;
  private readonly followed: FollowedConfiguration;
  private refused: string | null = null;
  /** Version and text of the file that were looked at last: a corrected file is another reason to look. */
  private looked = '';

  constructor(followed: FollowedConfiguration, versions: SharedConfiguration) {
    this.followed = followed;
    this.versions = versions;
  }

  get standing(): ConfigurationStanding {
    return { version: this.followed.shared?.version ?? null, refused: this.refused };
  }

  /** At the start: the newest that can be taken here, as before a process was killed. @throws ParleyError store_unavailable */
  async begin(): Promise<void> {
    let version = await this.versions.newest();
    if (version === null || (await this.take(version))) return;
    const { refused, looked } = this;
    while (version !== null && !(await this.take(version)))
      version = await this.versions.newest(version.version);
    [this.refused, this.looked] = [refused, looked];
  }

  /** @throws ParleyError store_unavailable */
  async look(newest: number): Promise<void> {
    if (newest === 0 || this.looked === this.mark(newest)) return;
    const version = await this.versions.newest();
    if (version !== null) await this.take(version);
  }

  /** Whether it is in force now; one that is stays. */
  async take(version: ConfigurationVersion): Promise<boolean> {
    const has = this.followed.shared;
    const isNew = has?.version !== version.version || has.text !== version.text;
    const problems = isNew ? await this.followed.takeShared(version) : [];
    this.refused = problems.length === 0 ? null : reasonOf(version, problems);
    this.looked = this.mark(version.version);
    return problems.length === 0;
  }

  private mark(version: number): string {
    return `${version} ${this.followed.standing.revision}`;
  }
}

function reasonOf({ version }: ConfigurationVersion, problems: readonly Problem[]): string {
  const said = problems.map((problem) =>
    printProblem(problem)
      .trim()
      .replace(/\n\s*= /g, ': '),
  );
  return `version ${version} cannot be taken: ${said.join('; ')}`.slice(0, REASON_CHARS_MAX);
}
