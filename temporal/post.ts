/**
 * Brings letters to the workflows of entities, and begins a workflow where an entity begins.
 * Owns first contact, and that what has ended never begins again; must not know any rule.
 */
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
import { machineOf } from '../core/machines.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { ProjectionRow } from '../core/projection.ts';
import type { Clock } from '../ports/clock.ts';
import type { Delivery, Notifier } from '../ports/notifier.ts';
import {
  MALFORMED,
  noticeSignal,
  requestUpdate,
  type AddressedLetter,
  type DriveInput,
} from '../workflows/letter.ts';
import { attributesOf } from '../workflows/visibility.ts';
import { GRPC, grpcCode, grpcDetails } from './grpc-code.ts';
import type { KeptTexts } from './kept-texts.ts';
import { letterId } from './letter-id.ts';
import type { Tombstones } from './tombstones.ts';

/** A request meets the end of a run at most so often: every meeting is one continue-as-new. */
const REQUEST_TRIES_MAX = 8;
const REQUEST_AGAIN_MS = 50;
/** A request waits so long for a worker before it says that there is none. */
const REQUEST_WAIT_MS = 30_000;
/** A workflow whose task was lost with its worker takes requests again once the task is done anew, which the server delays. */
const NOT_READY_WAIT_MS = 60_000;
const NOT_READY_AGAIN_MS = 500;

export interface PostOptions {
  readonly client: WorkflowClient;
  /** Prefix of the deployment's task queues, and the queue of its workflows. */
  readonly queue: string;
  readonly eventsMax: number;
  readonly tombstones: Tombstones;
  readonly clock: Clock;
  /** Absent: what a user wrote travels at any length, for worlds in which nobody writes. */
  readonly texts?: KeptTexts;
  readonly requestWaitMs?: number;
}

type Birth = readonly ProjectionRow[];

interface StartOptions {
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly args: [DriveInput];
  readonly workflowIdReusePolicy: 'REJECT_DUPLICATE';
  readonly typedSearchAttributes?: SearchAttributePair[];
}

export class Post {
  private readonly options: PostOptions;

  constructor(options: PostOptions) {
    this.options = options;
  }

  /** For activities: durable as soon as it returns, whether a worker is there or not. */
  readonly notices: Notifier = { deliver: (delivery) => this.send(letterOf(delivery)) };

  /** For edges: returns once the entity's workflow has taken it into its history. */
  readonly requests: Notifier = { deliver: (delivery) => this.request(letterOf(delivery)) };

  /** A letter to nobody, or to one that has ended, is delivered as well: it changes nothing (D11). */
  async send(whole: AddressedLetter): Promise<void> {
    const { client, texts } = this.options;
    const letter = (await texts?.short(whole)) ?? whole;
    try {
      const birth = this.birthBy(letter);
      if (birth !== null) {
        if (await this.answeredForTheEnded(letter)) return;
        await client.signalWithStart(letter.to.machine, {
          ...this.start(letter, birth),
          workflowIdConflictPolicy: 'USE_EXISTING',
          signal: noticeSignal,
          signalArgs: [{ id: letter.id, event: letter.event }],
        });
      } else {
        const { id, event } = letter;
        await client.getHandle(addressKey(letter.to)).signal(noticeSignal, { id, event });
      }
    } catch (error) {
      if (!isOver(error)) throw unreachable(error);
      await this.answeredForTheEnded(letter);
    }
  }

  private async request(whole: AddressedLetter): Promise<void> {
    const { clock, texts } = this.options;
    const letter = (await texts?.short(whole)) ?? whole;
    const notReadyUntil = clock.now() + NOT_READY_WAIT_MS;
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.tryRequest(letter);
      } catch (error) {
        if (isNotReady(error) && clock.now() < notReadyUntil) {
          tried = 0;
          await new Promise((resolve) => setTimeout(resolve, NOT_READY_AGAIN_MS));
          continue;
        }
        if (isOver(error)) {
          if (await this.answeredForTheEnded(letter)) return;
          if (error instanceof WorkflowNotFoundError && this.birthBy(letter) === null) return;
        } else if (!isCutShort(error)) throw unreachable(error);
        if (tried >= REQUEST_TRIES_MAX) throw unreachable(error);
      }
      await new Promise((resolve) => setTimeout(resolve, REQUEST_AGAIN_MS * tried));
    }
  }

  private async tryRequest(letter: AddressedLetter): Promise<void> {
    const { client, requestWaitMs = REQUEST_WAIT_MS } = this.options;
    const args: [{ readonly id: string; readonly event: AddressedLetter['event'] }] = [
      { id: letter.id, event: letter.event },
    ];
    const update = { args, updateId: letter.id };
    await client.connection.withDeadline(Date.now() + requestWaitMs, async () => {
      const birth = this.birthBy(letter);
      if (birth === null) {
        await client.getHandle(addressKey(letter.to)).executeUpdate(requestUpdate, update);
        return;
      }
      if (await this.answeredForTheEnded(letter)) return;
      const startWorkflowOperation = new WithStartWorkflowOperation(letter.to.machine, {
        ...this.start(letter, birth),
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      await client.executeUpdateWithStart(requestUpdate, { ...update, startWorkflowOperation });
    });
  }

  private start({ to }: AddressedLetter, birth: Birth): StartOptions {
    const { queue, eventsMax } = this.options;
    const attributes = attributesOf(to.machine, birth);
    return {
      workflowId: addressKey(to),
      taskQueue: queue,
      args: [{ queue, eventsMax, shown: attributes?.text ?? '', carried: null }],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      ...(attributes === null ? {} : { typedSearchAttributes: attributes.pairs }),
    };
  }

  /** Rows of an entity that the letter brings to life; null when it brings nobody to life. Its machine says which. */
  private birthBy({ to, event }: AddressedLetter): Birth | null {
    const { state, commands } = machineOf(to.machine).step(null, event, this.options.clock.now());
    if (state === null) return null;
    return commands.flatMap((command): readonly ProjectionRow[] =>
      command.type === 'project' ? command.rows : [],
    );
  }

  private async answeredForTheEnded(letter: AddressedLetter): Promise<boolean> {
    const said = await this.options.tombstones.answer(letter);
    if (said === null) return false;
    for (const answer of said) await this.send(answer);
    return true;
  }
}

function letterOf({ to, event }: Delivery): AddressedLetter {
  return { to, id: letterId(event), event };
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

function unreachable(error: unknown): unknown {
  if (error instanceof ParleyError) return error;
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)
    return new ParleyError(
      'engine_unreachable',
      'Cannot get an answer from the engine: no worker took the request; start one with "parley worker"',
      { cause: error },
    );
  // The packages say why only in the cause.
  const why = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = grpcDetails(why);
  return new ParleyError('engine_unreachable', `Cannot reach the engine: ${reason}`, { cause: error });
}
