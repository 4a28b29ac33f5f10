/**
 * Saving and deploying the configuration of a running service.
 * Owns the order: the revision, the check that every start makes, the file, then what holds; what can be followed is
 * decided in host/follow/.
 */
import type {
  ConfigurationChange,
  ConfigurationDesk,
  ConfigurationFinding,
  ConfigurationOutcome,
  ConfigurationState,
} from '../../api/configuration/configuration-desk.ts';
import type { Problem } from '../config/problem.ts';
import { revisionOf } from '../config/text-revision.ts';
import { readConfiguration, writeCandidate } from '../follow/configuration-file.ts';
import { heldBack, type ConfigurationOwner } from '../follow/configuration-owner.ts';
import { errorsOf, type FollowedConfiguration } from '../follow/followed-configuration.ts';
import { fieldsOf, withFields } from './configuration-text.ts';

export interface DeskParts {
  /** Of this process. */
  readonly followed: FollowedConfiguration;
  /** The process that carries things out; null when it is this one. */
  readonly owner: ConfigurationOwner | null;
}

export function openConfigurationDesk({ followed, owner }: DeskParts): ConfigurationDesk {
  const desk = new Desk(followed, owner);
  return {
    state: () => Promise.resolve().then(() => desk.state()),
    change: (revision, change) => followed.inTurn(() => desk.change(revision, change)),
  };
}

class Desk {
  private readonly followed: FollowedConfiguration;
  private readonly owner: ConfigurationOwner | null;

  constructor(followed: FollowedConfiguration, owner: ConfigurationOwner | null) {
    this.followed = followed;
    this.owner = owner;
  }

  state(): ConfigurationState {
    const { file, inForce, deployment } = this.followed;
    const text = readConfiguration(file);
    const revision = revisionOf(text);
    const { needsRestart, warnings } = heldBack(this.followed, this.owner, revision);
    return {
      path: file,
      text,
      revision,
      fields: fieldsOf(text, deployment),
      overridden: inForce.reading.values.filter(({ source }) => source === 'env').map((one) => one.path),
      needs_restart: [...needsRestart],
      warnings: [...warnings],
    };
  }

  async change(revision: string, change: ConfigurationChange): Promise<ConfigurationOutcome> {
    const { file } = this.followed;
    const before = readConfiguration(file);
    if (revisionOf(before) !== revision) return { kind: 'outdated' };
    const text = change.kind === 'text' ? change.text : withFields(before, change.fields);
    if (text === null) return { kind: 'refused', findings: [NO_MAPPING] };
    const candidate = writeCandidate(file, text);
    try {
      const { config, problems } = await this.followed.load(candidate.path);
      const errors = errorsOf(problems);
      if (config === null || errors.length > 0) return { kind: 'refused', findings: errors.map(findingOf) };
      await candidate.take();
      const taken = this.followed.takeUp(config);
      const holds = (await this.owner?.takesUp(config.reading.revision)) ?? true;
      const state = this.state();
      const applied = holds ? taken.filter((key) => !state.needs_restart.includes(key)) : [];
      const warnings = problems.map(({ message }) => message);
      return { kind: 'deployed', state, applied, warnings };
    } finally {
      candidate.drop();
    }
  }
}

export const NO_MAPPING: ConfigurationFinding = {
  loc: ['body', 'fields'],
  msg: 'The configuration is no mapping of keys: correct its text first',
  type: 'configuration_error',
};

export function findingOf({ line, column, message, remedy }: Problem): ConfigurationFinding {
  const place = line === null ? [] : [line, column ?? 1];
  const msg = remedy === null ? message : `${message}: ${remedy}`;
  return { loc: ['body', 'text', ...place], msg, type: 'configuration_error' };
}
