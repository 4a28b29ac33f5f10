/** Types of run-quietly.js, for its tests. */
export function runNetworkStep(
  step: string,
  command: string,
  args: readonly string[],
  options: { readonly pauseMs?: number; readonly env?: NodeJS.ProcessEnv; readonly cwd?: string },
): Promise<void>;
