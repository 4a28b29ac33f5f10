/**
 * Saving and deploying the configuration of a running service.
 * Owns the order: the revision, the check that every start makes, the file, then what the service can follow.
 */
import path from 'node:path';
import type {
  ConfigurationChange,
  ConfigurationDesk,
  ConfigurationFinding,
  ConfigurationOutcome,
  ConfigurationState,
} from '../../api/configuration/configuration-desk.ts';
import type { Deployment } from '../../ports/deployment.ts';
import type { ProxyConfig } from '../../proxy/config.ts';
import { parseProxyConfig } from '../../proxy/config-reading.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { CONFIG_FILE } from '../config/deployment-file.ts';
import type { Environment } from '../config/effective-values.ts';
import { loadDeployment, type LoadedDeployment } from '../config/load-deployment.ts';
import type { Problem } from '../config/problem.ts';
import { differences, isFollowed } from './configuration-differences.ts';
import { readConfiguration, revisionOf, writeCandidate } from './configuration-file.ts';
import { fieldsOf, withFields } from './configuration-text.ts';

export interface DeskParts {
  readonly config: DeploymentConfig;
  readonly env: Environment;
  /** The one object that everything in this process reads at every use. */
  readonly deployment: Deployment;
  reloadProxy(config: ProxyConfig): void;
}

export function openConfigurationDesk(parts: DeskParts): ConfigurationDesk {
  const file = parts.config.configPath ?? path.join(parts.config.baseDir, CONFIG_FILE);
  const desk = new Desk(file, parts);
  return {
    state: () => desk.state(),
    change: (revision, change) => desk.inTurn(() => desk.change(revision, change)),
  };
}

class Desk {
  private readonly file: string;
  private readonly parts: DeskParts;
  /** What the process began with; null when the file cannot be read any more. */
  private readonly atStart: Promise<LoadedDeployment>;
  private inForce: Promise<LoadedDeployment>;
  private last: Promise<unknown> = Promise.resolve();

  constructor(file: string, parts: DeskParts) {
    this.file = file;
    this.parts = parts;
    this.atStart = this.load(file);
    this.inForce = this.atStart;
  }

  /** One after the other, also after one that failed. */
  inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const mine = this.last.then(work, work);
    this.last = mine;
    return mine;
  }

  async state(): Promise<ConfigurationState> {
    const text = readConfiguration(this.file);
    const { values } = await this.inForce;
    const notYet = differences(await this.atStart, await this.inForce).filter((key) => !isFollowed(key));
    return {
      path: this.file,
      text,
      revision: revisionOf(text),
      fields: fieldsOf(text, this.parts.deployment),
      overridden: values.filter(({ source }) => source === 'env').map((one) => one.path),
      needsRestart: notYet,
    };
  }

  async change(revision: string, change: ConfigurationChange): Promise<ConfigurationOutcome> {
    const before = readConfiguration(this.file);
    if (revisionOf(before) !== revision) return { kind: 'outdated' };
    const text = change.kind === 'text' ? change.text : withFields(before, change.fields);
    if (text === null) return { kind: 'refused', findings: [NO_MAPPING] };
    const candidate = writeCandidate(this.file, text);
    try {
      const loaded = await this.load(candidate.path);
      const { config, problems } = loaded;
      const errors = problems.filter(({ severity }) => severity === 'error');
      if (config === null || errors.length > 0) return { kind: 'refused', findings: errors.map(findingOf) };
      await candidate.take();
      const applied = await this.apply(loaded, config);
      const warnings = problems.map(({ message }) => message);
      return { kind: 'deployed', state: await this.state(), applied, warnings };
    } finally {
      candidate.drop();
    }
  }

  private load(file: string): Promise<LoadedDeployment> {
    const { env } = this.parts;
    return loadDeployment({ path: file, cwd: process.cwd(), env });
  }

  /**
   * The product word stays: identifiers of conversations that go on are made of it. So does what the warm pool is made
   * with: the runtime itself is read once.
   */
  private async apply(loaded: LoadedDeployment, config: DeploymentConfig): Promise<readonly string[]> {
    const { deployment, env } = this.parts;
    const changed = differences(await this.inForce, loaded).filter(isFollowed);
    const { vendor, warmPool: before } = deployment;
    const { warmPool: wanted } = config.deployment;
    const warmPool = before === undefined || wanted === undefined ? wanted : { ...wanted, spec: before.spec };
    Object.assign(deployment, { ...config.deployment, vendor, warmPool });
    if (changed.includes('proxy_config'))
      this.parts.reloadProxy(parseProxyConfig(config.proxyConfigRaw, env, { vendor }).config);
    this.inForce = Promise.resolve(loaded);
    return changed;
  }
}

const NO_MAPPING: ConfigurationFinding = {
  loc: ['body', 'fields'],
  msg: 'The file is no mapping of keys: correct its text first',
  type: 'configuration_error',
};

function findingOf({ line, column, message, remedy }: Problem): ConfigurationFinding {
  const place = line === null ? [] : [line, column ?? 1];
  const msg = remedy === null ? message : `${message}: ${remedy}`;
  return { loc: ['body', 'text', ...place], msg, type: 'configuration_error' };
}
