/**
 * The host of a process that finds its data directory owned by another one: its requests go to the owner over its
 * socket, and it reads the rows. When the owner ends while a caller waits here, this process goes on in its place.
 * Owns that change of owner; must not carry anything out beside a living owner.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ParleyError } from '../../core/parley-error.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { deployedFiles } from '../deployed-files.ts';
import type { Host, HostOptions } from '../host-port.ts';
import type { Closers } from '../closers.ts';
import { readDeployedStore } from '../follow/config-store.ts';
import { hostLife } from '../host-life.ts';
import { withLocalApi } from './owner-desk.ts';
import { openOwnerLink, type OwnerLink, type Owning } from './owner-link.ts';
import { readerOf } from './reader.ts';
import { createRunWatch } from '../run-watch.ts';
import { environmentSecrets } from '../secret-source.ts';

/** Rows are polled this often: another process writes them. */
const POLL_EVERY_MS = 250;
/** An owner that has just begun listens within this time; one that only holds the directory never does. */
const LISTEN_MS_MAX = 20_000;
const LISTEN_POLL_MS = 100;
/** Between two tries of taking the place of an owner that has ended. */
const TAKE_EVERY_MS = 500;

export interface GuestOpening {
  readonly options: HostOptions;
  readonly closers: Closers;
  /** Why this process is not the owner. */
  readonly locked: ParleyError;
  /** Takes the data directory. @throws ParleyError data_directory_locked while another process has it */
  openOwner(): Promise<Host>;
}

type Owner =
  { readonly kind: 'other'; readonly link: OwnerLink } | { readonly kind: 'own'; readonly host: Host };

/** @throws `locked` when the owner does not answer, and engine_misconfigured when it runs another engine */
export async function openGuestHost(config: DeploymentConfig, opening: GuestOpening): Promise<Host> {
  const { options, closers, locked } = opening;
  const link = await listeningOwner(config, locked);
  const { pid, engine, resultsDir } = link.facts;
  closers.add(() => link.close());
  if (engine !== config.engine.kind)
    throw new ParleyError(
      'engine_misconfigured',
      `Cannot use the engine "${config.engine.kind}": process ${pid} owns the data directory and runs "${engine}"`,
      { remedy: `add --engine ${engine}, or wait until that process has ended` },
    );
  const store = await readDeployedStore(config);
  if (store === null) throw locked;
  closers.add(() => store.close());
  options.onNotice(`process ${pid} owns the data directory and carries this out; it is watched from here`);
  const guest = new Guest(config, opening, link);
  closers.add(() => guest.close());
  // Folders are the owner's; copies out of a bucket go where this process keeps its own.
  const files = deployedFiles(config.bucket === null ? { ...config, resultsDir } : config);
  closers.add(() => files.close());
  const watch = createRunWatch(store.records);
  const looking = setInterval(() => watch.poke(), POLL_EVERY_MS);
  closers.add(() => clearInterval(looking));
  const life = hostLife();
  return {
    ...readerOf(store, config, files),
    engine: { kind: 'embedded' },
    application: null,
    ended: life.ended,
    isReady: () => Promise.resolve(true),
    isolation: 'as its owner says',
    warnings: [],
    goesOn: () => guest.isElsewhere,
    startRun: (runId, plan, secrets = environmentSecrets(plan, process.env)) =>
      guest.ask((owner) => owner.startRun(runId, plan, secrets)),
    localApi: () => guest.localApi((error) => life.fail(error)),
    tellRun: (...told) => guest.ask((owner) => owner.tellRun(...told)),
    async waitForRun(runId, onChange, signal) {
      const over = new AbortController();
      const standing = guest.standIn(AbortSignal.any([signal, over.signal]));
      standing.catch((error: unknown) => watch.fail(error as Error));
      try {
        return await watch.wait(runId, onChange, signal);
      } finally {
        over.abort();
      }
    },
    reconcile: (...asked) => guest.ask((owner) => owner.reconcile(...asked)),
    report: (runId) => guest.ask((owner) => owner.report(runId)),
    collect: (runId) => guest.ask((owner) => owner.collect(runId)),
    async close() {
      await closers.run();
      life.end();
    },
  };
}

async function listeningOwner(config: DeploymentConfig, locked: ParleyError): Promise<OwnerLink> {
  const until = Date.now() + LISTEN_MS_MAX;
  for (;;) {
    const link = await openOwnerLink(config);
    if (link !== null) return link;
    if (Date.now() > until) throw locked;
    await pause(LISTEN_POLL_MS);
  }
}

/** The process that carries things out, seen from here: another one, or this one once that has ended. */
class Guest {
  private readonly config: DeploymentConfig;
  private readonly opening: GuestOpening;
  private owner: Owner;
  /** While the owner changes. */
  private changing: Promise<void> | null = null;
  /** Once a caller has requested the API. */
  private staying: Promise<void> | null = null;
  private isClosed = false;

  constructor(config: DeploymentConfig, opening: GuestOpening, link: OwnerLink) {
    this.config = config;
    this.opening = opening;
    this.owner = { kind: 'other', link };
  }

  get isElsewhere(): boolean {
    return this.owner.kind === 'other';
  }

  /** A request is the same however often it is made: an owner that ended on the way is followed by the next one. */
  async ask<Answer>(work: (owner: Owning) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const { owner } = this;
      if (owner.kind === 'own') return await work(withLocalApi(owner.host));
      try {
        return await work(owner.link);
      } catch (error) {
        if (!(error instanceof ParleyError) || error.code !== 'engine_unreachable') throw error;
        await this.change();
      }
    }
  }

  /** What is begun there goes on without callers: this process takes the place of an owner that ends. */
  async localApi(onFailure: (error: Error) => void): Promise<string> {
    this.staying ??= this.standIn(new AbortController().signal).catch((error: unknown) =>
      onFailure(error as Error),
    );
    return await this.ask((owner) => owner.localApi());
  }

  /** As long as a caller waits here, an owner that ends is replaced. @throws what keeps this process from going on */
  async standIn(signal: AbortSignal): Promise<void> {
    const left = new Promise<'left'>((resolve) => {
      if (signal.aborted) resolve('left');
      signal.addEventListener('abort', () => resolve('left'), { once: true });
    });
    while (this.owner.kind === 'other') {
      const { link } = this.owner;
      const end = await Promise.race([link.lost.then(() => 'lost' as const), left]);
      if (end === 'left' || this.isClosed) return;
      await this.change();
    }
    await Promise.race([this.owner.host.ended, left]);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.changing?.catch(() => undefined);
    if (this.owner.kind === 'own') await this.owner.host.close();
    else await this.owner.link.close();
  }

  private change(): Promise<void> {
    this.changing ??= this.replace().finally(() => (this.changing = null));
    return this.changing;
  }

  /** By this process, or by another one that was faster. */
  private async replace(): Promise<void> {
    const { onNotice } = this.opening.options;
    if (this.owner.kind === 'own') return;
    const { pid } = this.owner.link.facts;
    await this.owner.link.close();
    onNotice(`process ${pid}, which carried this out, has ended; going on`);
    while (!this.isClosed) {
      const host = await this.opening.openOwner().catch((error: unknown) => {
        if (error instanceof ParleyError && error.code === 'data_directory_locked') return null;
        throw error;
      });
      if (host !== null) {
        this.owner = { kind: 'own', host };
        onNotice('this process owns the data directory now and carries the runs in it out');
        return;
      }
      const link = await openOwnerLink(this.config);
      if (link !== null && link.facts.pid !== pid) {
        this.owner = { kind: 'other', link };
        onNotice(`process ${link.facts.pid} owns the data directory now and carries this out`);
        return;
      }
      await link?.close();
      await pause(TAKE_EVERY_MS);
    }
  }
}
