/**
 * One command as a process of its own, and what it took: wall time, processor time, the most memory it ever had.
 * Owns the measuring; a command that fails is an error with its words.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Measured {
  readonly seconds: number;
  /** User and system time: says something on a loaded machine, too. */
  readonly cpuSeconds: number;
  /** Largest resident memory, as the kernel counts it. */
  readonly residentMb: number;
  readonly stdout: string;
}

/** Said by the process itself when it ends: the kernel tells its parent only of all children together. */
const TELL =
  "process.on('exit',()=>{const {maxRSS,userCPUTime,systemCPUTime}=process.resourceUsage();" +
  "process.stderr.write('\\nmeasured '+JSON.stringify({maxRSS,cpu:userCPUTime+systemCPUTime})+'\\n')})";

export async function measureCommand(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Measured> {
  const begun = process.hrtime.bigint();
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(TELL)}`];
  const child = spawn(process.execPath, [...preload, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [[] as string[], [] as string[]];
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  const [code] = (await once(child, 'close')) as [number | null];
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  const told = /\nmeasured (\{.*\})/.exec(stderr.join(''))?.[1];
  if (code !== 0 || told === undefined)
    throw new Error(`Cannot measure ${args.join(' ')}: it ended with ${code}: ${stderr.join('')}`);
  const { maxRSS, cpu } = JSON.parse(told) as { readonly maxRSS: number; readonly cpu: number };
  return { seconds, cpuSeconds: cpu / 1e6, residentMb: maxRSS / 1_024, stdout: stdout.join('') };
}
