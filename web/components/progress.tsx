/**
 * How many of a run's items have ended and are at work.
 * Owns the bar; the same is said in words beside it.
 */
import type { ReactElement } from 'react';

export interface ProgressProps {
  readonly done: number;
  readonly active: number;
  readonly total: number;
}

const WIDTH = 120;

export function Progress({ done, active, total }: ProgressProps): ReactElement {
  const scale = total === 0 ? 0 : WIDTH / total;
  return (
    <span className="progress">
      <svg viewBox={`0 0 ${WIDTH} 6`} width={WIDTH} height={6} aria-hidden="true">
        <rect className="progress-all" width={WIDTH} height={6} rx={3} />
        <rect className="progress-active" width={(done + active) * scale} height={6} rx={3} />
        <rect className="progress-done" width={done * scale} height={6} rx={3} />
      </svg>
      <span>
        {done} of {total}
        {active === 0 ? '' : `, ${active} at work`}
      </span>
    </span>
  );
}
