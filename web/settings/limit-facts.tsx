/**
 * The limits of the deployment, to read.
 * Owns the sentence; they are set on the admin page.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { duration } from '../text/time.ts';

export function LimitFacts({
  limits,
}: {
  readonly limits: ResultOf<'get_settings'>['limits'];
}): ReactElement {
  const time = (seconds: number | null): string => (seconds === null ? 'never' : duration(seconds * 1_000));
  return (
    <dl className="limit-facts">
      <div>
        <dt>Idle Time</dt>
        <dd>{time(limits.idle_time)}</dd>
      </div>
      <div>
        <dt>Deletion Time</dt>
        <dd>{time(limits.deletion_time)}</dd>
      </div>
      <div>
        <dt>Sandboxes at once</dt>
        <dd>
          {limits.sandboxes_per_user} of {limits.sandboxes}
        </dd>
      </div>
      <div>
        <dt>Conversations in one</dt>
        <dd>{limits.conversations_per_sandbox}</dd>
      </div>
    </dl>
  );
}
