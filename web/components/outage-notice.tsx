/**
 * What stands above every page while the service is away, and for a while after.
 * Owns the sentences; every part of the page goes on by itself.
 */
import type { ReactElement } from 'react';
import { forgetOutage, useOutage } from '../data/outage.ts';
import { exactDuration } from '../text/time.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';
import { TimeOfDay } from './when.tsx';

export function OutageNotice(): ReactElement | null {
  const { sinceMs, over } = useOutage();
  if (sinceMs !== null)
    return (
      <Notice tone="bad">
        The service cannot be reached since <TimeOfDay at={sinceMs} />. What is shown is from then; it goes on
        by itself when the service is back.
      </Notice>
    );
  if (over === null) return null;
  return (
    <Notice tone="good">
      <div className="outage-over">
        <span>
          The service could not be reached from <TimeOfDay at={over.fromMs} /> on, for{' '}
          {exactDuration(over.untilMs - over.fromMs)}. It is back, and the page is up to date.
        </span>
        <Button kind="quiet" onClick={forgetOutage}>
          Understood
        </Button>
      </div>
    </Notice>
  );
}
