/**
 * Brings envelopes to the workflows of entities, and begins a workflow where an entity begins.
 * Owns first contact, and that what has ended never begins again; must not know any rule.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type WorkflowClient,
} from '@temporalio/client';
import { ApplicationFailure, type SearchAttributePair } from '@temporalio/common';
import { addressKey } from '../core/ids.ts';
import type { MachineEvent } from '../core/machine/command.ts';
import { machineOf } from '../core/machine/machines.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { ProjectionRow } from '../core/machine/projection.ts';
import { utf8Bytes } from '../core/text/shorten.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delivery, Notifier } from '../ports/notifier.ts';
import {
  MALFORMED,
  noticeSignal,
  requestUpdate,
  type AddressedEnvelope,
  type DriveInput,
} from '../workflows/envelope.ts';
import { attributesOf } from '../workflows/visibility.ts';
import { GRPC, grpcCode, grpcDetails } from './grpc-code.ts';
import type { KeptTexts } from './kept-texts.ts';
import type { LostEntities } from './lost-entities.ts';
import { shownAtStart, type ShownAtStart } from './shown-at-start.ts';
import type { TombstoneAnswer, Tombstones } from './tombstones.ts';

/** A request meets the end of a run at most so often: every meeting is one continue-as-new. */
const REQUEST_TRIES_MAX = 8;
const REQUEST_AGAIN_MS = 50;
/** A request waits so long for a worker before it fails for want of one. */
const REQUEST_WAIT_MS = 30_000;
/** A workflow whose task was lost with its worker takes requests after the task's retry, which the server delays. */
const NOT_READY_WAIT_MS = 60_000;
const NOT_READY_AGAIN_MS = 500;

export interface EntityClientOptions {
  readonly client: WorkflowClient;
  /** Prefix of the deployment's task queues, and the queue of its workflows. */
  readonly queue: string;
  readonly eventsMax: number;
  readonly tombstones: Tombstones;
  readonly clock: Clock;
  /** Absent: texts of users are sent at any length, for worlds without users. */
  readonly texts?: KeptTexts;
  /** Ends an entity that was ended from outside, when an envelope finds it so. Absent: it is left alone. */
  readonly lost?: () => Pick<LostEntities, 'mend'>;
  readonly requestWaitMs?: number;
}

/** Why a workflow may have to begin for an envelope: the envelope creates the entity, or the entity was put away. */
type Beginning =
  { readonly kind: 'init'; readonly rows: readonly ProjectionRow[] } | { readonly kind: 'takeUp' };

const TAKE_UP: Beginning = { kind: 'takeUp' };

interface StartOptions extends Partial<ShownAtStart> {
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly args: [DriveInput];
  readonly workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE';
  readonly typedSearchAttributes?: SearchAttributePair[];
}

/** Sends events to workflows, and begins those that are not there. */
export class EntityClient {
  private readonly options: EntityClientOptions;

  constructor(options: EntityClientOptions) {
    this.options = options;
  }

  /** For activities: durable as soon as it returns, whether a worker is there or not. */
  readonly notices: Notifier = { deliver: (delivery) => this.send(envelopeFor(delivery)) };

  /** For edges: returns once the entity's workflow has taken it into its history. */
  readonly requests: Notifier = { deliver: (delivery) => this.request(envelopeFor(delivery)) };

  /** An envelope for a missing or ended entity counts as delivered: no caller waits for its effect (D11). */
  async send(whole: AddressedEnvelope): Promise<void> {
    const { texts } = this.options;
    const envelope = (await texts?.short(whole)) ?? whole;
    let beginning = this.initialRowsOf(envelope);
    try {
      if (beginning !== null) {
        const found = await this.askTheEnded(envelope);
        if (found === 'answered') return;
        if (found === 'takeUp') beginning = TAKE_UP;
      }
      await this.signal(envelope, beginning);
    } catch (error) {
      if (!isOver(error)) throw unreachable(error);
      const found = await this.askTheEnded(envelope);
      if (found === null) await this.options.lost?.().mend(envelope.to);
      if (found !== 'takeUp') return;
      await this.signal(envelope, TAKE_UP).catch((problem: unknown) => {
        throw unreachable(problem);
      });
    }
  }

  private async signal(envelope: AddressedEnvelope, beginning: Beginning | null): Promise<void> {
    const { client } = this.options;
    const { id, event } = envelope;
    if (beginning === null) {
      await client.getHandle(addressKey(envelope.to)).signal(noticeSignal, { id, event });
      return;
    }
    await client.signalWithStart(envelope.to.machine, {
      ...this.start(envelope, beginning),
      workflowIdConflictPolicy: 'USE_EXISTING',
      signal: noticeSignal,
      signalArgs: [{ id, event }],
    });
  }

  private async request(whole: AddressedEnvelope): Promise<void> {
    const { clock, texts } = this.options;
    const envelope = (await texts?.short(whole)) ?? whole;
    const notReadyUntil = clock.now() + NOT_READY_WAIT_MS;
    let beginning = this.initialRowsOf(envelope);
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.tryRequest(envelope, beginning);
      } catch (error) {
        if (isNotReady(error) && clock.now() < notReadyUntil) {
          tried = 0;
          await new Promise((resolve) => setTimeout(resolve, NOT_READY_AGAIN_MS));
          continue;
        }
        if (isOver(error)) {
          const found = await this.askTheEnded(envelope);
          if (found === 'answered') return;
          if (found === 'takeUp') beginning = TAKE_UP;
          else if (error instanceof WorkflowNotFoundError && beginning === null) {
            const isMended = (await this.options.lost?.().mend(envelope.to)) ?? false;
            // A deletion of an entity that does not exist has succeeded.
            if (envelope.event.type !== 'deleteRequested') throw lostProblem(envelope);
            if (!isMended) return;
          }
        } else if (!isCutShort(error)) throw unreachable(error);
        if (tried >= REQUEST_TRIES_MAX) throw unreachable(error);
      }
      await new Promise((resolve) => setTimeout(resolve, REQUEST_AGAIN_MS * tried));
    }
  }

  private async tryRequest(envelope: AddressedEnvelope, beginning: Beginning | null): Promise<void> {
    const { client, requestWaitMs = REQUEST_WAIT_MS } = this.options;
    const args: [{ readonly id: string; readonly event: AddressedEnvelope['event'] }] = [
      { id: envelope.id, event: envelope.event },
    ];
    const update = { args, updateId: envelope.id };
    await client.connection.withDeadline(Date.now() + requestWaitMs, async () => {
      if (beginning === null) {
        await client.getHandle(addressKey(envelope.to)).executeUpdate(requestUpdate, update);
        return;
      }
      const found = beginning.kind === 'init' ? await this.askTheEnded(envelope) : null;
      if (found === 'answered') return;
      const startWorkflowOperation = new WithStartWorkflowOperation(envelope.to.machine, {
        ...this.start(envelope, found === 'takeUp' ? TAKE_UP : beginning),
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      await client.executeUpdateWithStart(requestUpdate, { ...update, startWorkflowOperation });
    });
  }

  private start({ to }: AddressedEnvelope, beginning: Beginning): StartOptions {
    const { queue, eventsMax } = this.options;
    const rows = beginning.kind === 'init' ? beginning.rows : [];
    const attributes = attributesOf(to.machine, rows);
    const input = {
      queue,
      eventsMax,
      shown: attributes?.text ?? '',
      carried: null,
      endsAtRest: true,
    } as const;
    const isTakenUp = beginning.kind === 'takeUp';
    return {
      workflowId: addressKey(to),
      taskQueue: queue,
      args: [isTakenUp ? { ...input, isTakenUp } : input],
      workflowIdReusePolicy: isTakenUp ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
      ...shownAtStart(to.machine, rows),
      ...(attributes === null ? {} : { typedSearchAttributes: attributes.pairs }),
    };
  }

  /** Rows of an entity that the envelope creates; null when it creates none. The entity's machine decides which. */
  private initialRowsOf({ to, event }: AddressedEnvelope): Beginning | null {
    const { state, commands } = machineOf(to.machine).step(null, event, this.options.clock.now());
    if (state === null) return null;
    const rows = commands.flatMap((command): readonly ProjectionRow[] =>
      command.type === 'project' ? command.rows : [],
    );
    return { kind: 'init', rows };
  }

  /** What became of the envelope where the store has the entity, whose workflow has ended; null where it has none. */
  private async askTheEnded(envelope: AddressedEnvelope): Promise<TombstoneAnswer['kind'] | null> {
    const found = await this.options.tombstones.answer(envelope);
    if (found?.kind === 'answered') for (const answer of found.envelopes) await this.send(answer);
    return found?.kind ?? null;
  }
}

function envelopeFor({ to, event }: Delivery): AddressedEnvelope {
  return { to, id: envelopeId(event), event };
}

/** The workflow was never there, or has ended. */
function isOver(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError;
}

/** The run ended while it held the request; the next one may take it, under the same id. */
function isCutShort(error: unknown): boolean {
  if (!(error instanceof WorkflowUpdateFailedError)) return false;
  return !(error.cause instanceof ApplicationFailure && error.cause.type === MALFORMED);
}

/** The last task of the workflow failed or was lost; the server refuses requests until one went well. */
function isNotReady(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return grpcCode(error) === GRPC.failedPrecondition || grpcCode(cause) === GRPC.failedPrecondition;
}

function lostProblem({ to }: AddressedEnvelope): ParleyError {
  const message = `Cannot tell the ${to.machine} "${to.id}" anything: the engine has no open workflow of it`;
  return new ParleyError('workflow_lost', message, {
    remedy: 'look at its record, and begin another one',
  });
}

function unreachable(error: unknown): unknown {
  if (error instanceof ParleyError) return error;
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)
    return new ParleyError(
      'engine_unreachable',
      'Cannot get an answer from the engine: no worker took the request; start one with "parley worker"',
      { cause: error },
    );
  // The packages give the reason only in the cause.
  const why = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = grpcDetails(why);
  return new ParleyError('engine_unreachable', `Cannot reach the engine: ${reason}`, { cause: error });
}

/** A server takes 1,000 bytes for the id of an update, and a workflow fewer for that of an envelope. */
const ID_BYTES_MAX = 400;

/** From what identifies the event itself; a random one where every occurrence counts. */
function envelopeId(event: MachineEvent): string {
  const id = ownId(event) ?? randomUUID();
  return `${event.type}/${utf8Bytes(id) <= ID_BYTES_MAX ? id : digestOf(id)}`;
}

function ownId(event: MachineEvent): string | null {
  if ('requestId' in event) return event.requestId;
  if ('messageId' in event) return event.messageId;
  if ('commandId' in event) return event.commandId;
  return null;
}

/** Cut short, two ids could become one. */
function digestOf(id: string): string {
  return `sha256:${createHash('sha256').update(id).digest('hex')}`;
}
