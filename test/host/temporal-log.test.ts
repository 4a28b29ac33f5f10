/** What the packages of Temporal say: trouble becomes one line, what is expected is not said. */
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import { noticeOf } from '../../host/engines/temporal-log.ts';

it('drops what is expected', () => {
  const poll = ApplicationFailure.create({ type: 'poll', message: 'watchAgent found nothing yet' });
  expect(noticeOf({ message: 'Activity failed', meta: { error: poll } })).toBeNull();
  expect(noticeOf({ message: 'Activity failed', meta: { error: new CancelledFailure('x') } })).toBeNull();
  expect(noticeOf({ message: 'No workflows registered, not polling for workflow tasks' })).toBeNull();
});

it('drops what a busy machine makes of a task: it comes again by itself', () => {
  const slow = '[TMPRL1104] 01a20479:4:1 Workflow task duration exceeded 5 seconds.';
  expect(noticeOf({ message: slow })).toBeNull();
  expect(noticeOf({ message: 'Task not found when completing' })).toBeNull();
  expect(noticeOf({ message: 'Nondeterminism [TMPRL1100]' })).toContain('TMPRL1100');
});

it('says trouble in one line', () => {
  const error = new Error('first line\nsecond line');
  expect(noticeOf({ message: 'Worker failed', meta: { error } })).toBe(
    'Temporal: Worker failed: first line second line',
  );
  expect(noticeOf({ message: 'Slow down', meta: { other: 1 } })).toBe('Temporal: Slow down');
});
