/**
 * What a client may do to an entity at an odd moment.
 * Owns the acts and how likely each is among them; must not decide when, nor whether it is let through.
 */
import type { MachineEvent } from '../../core/machine/command.ts';
import type { EntityAddress } from '../../core/ids.ts';
import type { RandomStream } from '../random.ts';
import {
  concurrency,
  CONVERSATION_REQUESTS,
  message as written,
  RUN_REQUESTS,
  SANDBOX_REQUESTS,
} from '../requests.ts';

type Act = (requestId: string) => MachineEvent;

export const message: Act = (messageId) => written(messageId, 'and this');
export const { interrupt, remove } = CONVERSATION_REQUESTS;
export const cancelRun = RUN_REQUESTS.cancel;
const { access, confirm, deny } = CONVERSATION_REQUESTS;
const { pause, resume } = SANDBOX_REQUESTS;
const { drain } = RUN_REQUESTS;
const retitle: Act = (requestId) => ({ type: 'metadataChanged', requestId, title: 'another', tags: null });
const goOn: Act = (requestId) => ({ type: 'resumeRequested', requestId, classes: ['infra'] });
const narrow: Act = (requestId) => concurrency(requestId, 1);
const widen: Act = (requestId) => concurrency(requestId, 8);

/** One that ends everything is rare: there is more to see in what goes on. */
const ACTS: Readonly<Record<EntityAddress['machine'], readonly Act[]>> = {
  conversation: [
    message,
    message,
    message,
    message,
    interrupt,
    interrupt,
    access,
    confirm,
    deny,
    retitle,
    remove,
  ],
  sandbox: [pause, pause, pause, pause, resume, resume, resume, resume, remove],
  run: [narrow, widen, drain, goOn, goOn],
  // People speak to its run; to a shard a message means nothing.
  shard: [],
};

/** Some act that fits the entity. */
export function someAct({ machine }: EntityAddress, stream: RandomStream): Act {
  const acts = ACTS[machine];
  return acts[Math.floor(stream.next() * acts.length)] ?? message;
}

/** The same request as a new one; null for what has no id of its own. */
export function withNewId(event: MachineEvent, requestId: string): MachineEvent | null {
  if (event.type === 'messageReceived') return { ...event, messageId: requestId };
  if (event.type === 'resumeAnswered' || event.type === 'attachAnswered') return null;
  return 'requestId' in event ? { ...event, requestId } : null;
}

/** A message's id; null for anything else. */
export function messageIdOf(event: MachineEvent): string | null {
  return event.type === 'messageReceived' ? event.messageId : null;
}
