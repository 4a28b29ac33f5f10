/**
 * What the status of a pod says, as a table: every phase, and what hides behind it.
 */
import type { V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { urlOf } from '../../../runtimes/kubernetes/agent-address.ts';
import { podStateOf } from '../../../runtimes/kubernetes/pod-state.ts';
import type { PodStatus } from '../../../runtimes/kubernetes/pod-state.ts';

const base = { name: 'main', image: 'sandbox', imageID: '', ready: false, restartCount: 0 };
const pending = (problem: string | null, isFinal: boolean): PodStatus => ({
  kind: 'pending',
  problem,
  isFinal,
});
const waiting = (reason: string, message?: string): V1PodStatus => ({
  phase: 'Pending',
  containerStatuses: [
    { ...base, state: { waiting: { reason, ...(message === undefined ? {} : { message }) } } },
  ],
});
const ended = (exitCode: number, reason = 'Error'): V1PodStatus => ({
  phase: exitCode === 0 ? 'Succeeded' : 'Failed',
  containerStatuses: [{ ...base, state: { terminated: { exitCode, reason } } }],
});
const unprepared = [{ ...base, name: 'prepare', state: { terminated: { exitCode: 2, reason: 'Error' } } }];

const TABLE: readonly (readonly [string, V1PodStatus, PodStatus])[] = [
  ['nothing yet', {}, pending(null, false)],
  [
    'no node',
    { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message: 'no room' }] },
    pending('no node takes it: no room', false),
  ],
  ['its containers are being made', waiting('ContainerCreating'), pending(null, false)],
  ['its preparation runs', waiting('PodInitializing'), pending(null, false)],
  [
    'a first pull that failed',
    waiting('ErrImagePull', 'not found'),
    pending('image "sandbox": ErrImagePull: not found', false),
  ],
  ['pulls that fail', waiting('ImagePullBackOff'), pending('image "sandbox": ImagePullBackOff', true)],
  ['a name that is none', waiting('InvalidImageName'), pending('image "sandbox": InvalidImageName', true)],
  [
    'its preparation failed, and it is not over yet',
    { phase: 'Pending', initContainerStatuses: unprepared },
    pending('its preparation ended with exit code 2', true),
  ],
  [
    'its preparation failed',
    { phase: 'Failed', initContainerStatuses: unprepared },
    {
      kind: 'ended',
      cause: { kind: 'exit', exitCode: null },
      words: 'its preparation ended with exit code 2',
    },
  ],
  ['it runs', { phase: 'Running', podIP: '192.0.2.7' }, { kind: 'running', address: '192.0.2.7' }],
  ['it runs, and has no address yet', { phase: 'Running' }, pending(null, false)],
  [
    'it ended well',
    ended(0, 'Completed'),
    { kind: 'ended', cause: { kind: 'exit', exitCode: 0 }, words: '' },
  ],
  ['it ended', ended(9), { kind: 'ended', cause: { kind: 'exit', exitCode: 9 }, words: '' }],
  [
    'the kernel ended it',
    ended(137, 'OOMKilled'),
    { kind: 'ended', cause: { kind: 'out_of_memory' }, words: '' },
  ],
  [
    'its container ended before its phase says so',
    { ...ended(9), phase: 'Running', podIP: '192.0.2.7' },
    { kind: 'ended', cause: { kind: 'exit', exitCode: 9 }, words: '' },
  ],
  ['its node is lost', { phase: 'Unknown' }, { kind: 'lost', reason: 'its node does not answer' }],
];

describe('the state of a pod', () => {
  it.each(TABLE)('%s', (_, status, expected) => {
    expect(podStateOf('parley', { metadata: { name: 'pod' }, status }).status).toEqual(expected);
  });

  it('is ending while it was told to end and still runs, and ended when it has', () => {
    const metadata: V1Pod['metadata'] = { name: 'pod', deletionTimestamp: new Date(0) };
    const running: V1PodStatus = { phase: 'Running', podIP: '192.0.2.7' };
    expect(podStateOf('parley', { metadata, status: running }).status).toEqual({ kind: 'ending' });
    expect(podStateOf('parley', { metadata, status: ended(0) }).status.kind).toBe('ended');
  });

  it.each([
    ['ended by itself before it was told to', 69, 'ended'],
    ['ended because it was told to', 70, 'ending'],
    ['ended when its grace was over', 100, 'ending'],
  ])('%s', (_, finishedAtS, kind) => {
    // A pod is asked to end a grace before its deletion.
    const metadata = { name: 'pod', deletionTimestamp: new Date(100_000), deletionGracePeriodSeconds: 30 };
    const status = ended(143);
    const [main] = status.containerStatuses ?? [];
    const terminated = { exitCode: 143, finishedAt: new Date(finishedAtS * 1_000) };
    const containerStatuses = main === undefined ? [] : [{ ...main, state: { terminated } }];
    const found = podStateOf('parley', { metadata, status: { ...status, containerStatuses } });
    expect(found.status.kind).toBe(kind);
  });

  it('bears marks of its own installation only', () => {
    const labels = {
      'dev.parley/installation': 'parley',
      'dev.parley/sandbox': 'a'.repeat(32),
      'dev.parley/generation': '3',
      'dev.parley/role': 'agent',
    };
    const marks = { sandboxId: 'a'.repeat(32), generation: 3, role: 'agent' };
    expect(podStateOf('parley', { metadata: { labels } }).marks).toEqual(marks);
    expect(podStateOf('other', { metadata: { labels } }).marks).toBeNull();
    for (const [name, value] of [
      ['sandbox', '../../etc'],
      ['generation', 'x'],
      ['role', 'king'],
    ] as const) {
      const changed = { ...labels, [`dev.parley/${name}`]: value };
      expect(podStateOf('parley', { metadata: { labels: changed } }).marks, name).toBeNull();
    }
  });

  it('leads to addresses of both kinds', () => {
    expect(urlOf('192.0.2.7')).toBe('http://192.0.2.7:8000');
    expect(urlOf('2001:db8::7')).toBe('http://[2001:db8::7]:8000');
  });
});
