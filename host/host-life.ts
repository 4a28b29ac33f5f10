/**
 * The life of a host as a promise: until it is closed, or its engine cannot go on.
 * Owns that the first word counts.
 */

/** How a host says that it is over; the first word counts. */
export interface HostLife {
  readonly ended: Promise<void>;
  end(): void;
  fail(error: Error): void;
}

export function hostLife(): HostLife {
  let [end, fail]: [() => void, (error: Error) => void] = [() => undefined, () => undefined];
  const ended = new Promise<void>((resolve, reject) => {
    [end, fail] = [resolve, reject];
  });
  // Most commands hear of it from the wait for their run.
  ended.catch(() => undefined);
  return { ended, end, fail };
}
