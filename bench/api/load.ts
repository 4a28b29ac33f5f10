/**
 * Clients that ask without a pause, as a process of their own: what they cost is not the server's.
 * Owns the process and the loop in it; answers are read whole and looked at.
 */
import { fork } from 'node:child_process';
import { Pool } from 'undici';

export interface LoadRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `{id}` stands for the id of a conversation. */
  readonly path: string;
  readonly clients: number;
  readonly requests: number;
  readonly conversations: number;
}

/** Says that this process is the one that asks. */
export const LOAD_ARGUMENT = '--load';

export interface LoadProcess {
  /** Milliseconds of each call. */
  run(wish: LoadRequest): Promise<readonly number[]>;
  end(): void;
}

/** The same program again, which then calls `serveLoad`. */
export function startLoad(): LoadProcess {
  const child = fork(process.argv[1] ?? '', [LOAD_ARGUMENT]);
  return {
    run: (wish) =>
      new Promise((resolve, reject) => {
        child.once('message', (answer: readonly number[] | string) =>
          typeof answer === 'string' ? reject(new Error(answer)) : resolve(answer),
        );
        child.send(wish);
      }),
    end: () => void child.kill(),
  };
}

export function serveLoad(): void {
  process.on('message', (wish: LoadRequest) => {
    ask(wish).then(
      (took) => process.send?.(took),
      (error: unknown) => process.send?.(String(error)),
    );
  });
}

async function ask(wish: LoadRequest): Promise<readonly number[]> {
  const { url, headers, path, clients, requests, conversations } = wish;
  const pool = new Pool(url, { connections: clients, pipelining: 1 });
  const took: number[] = [];
  let left = requests;
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const number = (left * 7_919) % conversations;
      const wanted = path.replace('{id}', number.toString(16).padStart(32, '0'));
      const began = performance.now();
      const { statusCode, body } = await pool.request({ path: wanted, method: 'GET', headers });
      const text = await body.text();
      took.push(performance.now() - began);
      if (statusCode !== 200 || text.length < 100) throw new Error(`${wanted}: ${statusCode} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await pool.close();
  return took;
}
