/**
 * Reading the refs of repositories over the relay that sandboxes clone through, on a socket of its own.
 * Owns the relay's life and what its answers mean; its rules of hosts, redirects and credentials are those of a run (D19).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'undici';
import type { CodeHosts } from '../../clients/code-hosts/code-hosts.ts';
import { asParleyError } from '../../core/parley-error.ts';
import { basicAuthorization } from '../../clients/code-hosts/credential.ts';
import { createGitRelay } from '../../clients/code-hosts/git-relay.ts';
import { readRefNames, type RefNames } from './ref-list.ts';

export interface RepositoryQuestion {
  readonly provider: string;
  /** `owner/repo`. */
  readonly name: string;
  /** Name of the secret of the job that opens it; null for none. */
  readonly tokenSecret: string | null;
}

export type RefAnswer =
  | { readonly kind: 'refs'; readonly refs: RefNames }
  /** There is none, or none for this credential: hosts do not distinguish them. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'late' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface RefReader {
  read(question: RepositoryQuestion, signal: AbortSignal): Promise<RefAnswer>;
  close(): Promise<void>;
}

export interface RefReaderOptions {
  readonly codeHosts: CodeHosts;
  /** Value of the credential for a repository; null for none. */
  credentialOf(question: RepositoryQuestion): Promise<string | null>;
}

/** Half a million refs; a repository with more is taken as it is. */
const ANNOUNCED_BYTES_MAX = 32 * 1024 * 1024;
/** The token of a read without a secret; no secret has this name. */
const NO_SECRET = '-';

export async function openRefReader({ codeHosts, credentialOf }: RefReaderOptions): Promise<RefReader> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-preflight-'));
  const socketPath = path.join(folder, 'git.sock');
  const reasons = new Map<string, string>();
  const relay = createGitRelay({
    socketPath,
    codeHosts,
    allow: () => true,
    async authorization(provider, name, token) {
      const tokenSecret = token === null || token === NO_SECRET ? null : token;
      const credential = await credentialOf({ provider, name, tokenSecret });
      return credential === null ? null : basicAuthorization(credential);
    },
    warn: (text) => {
      const [, place, reason] = /repository "([^"]+)": (.*)$/s.exec(text) ?? [];
      if (place !== undefined) reasons.set(place, reason ?? '');
    },
  });
  await relay.listen();
  // One connection for each check: the relay serves as many as it likes.
  const client = (): Client => new Client('http://relay', { socketPath });
  return {
    async read(question, signal) {
      const { provider, name, tokenSecret } = question;
      const connection = client();
      try {
        const answer = await connection.request({
          method: 'GET',
          path: `/${provider}/${name}.git/info/refs?service=git-upload-pack`,
          headers: { authorization: `Bearer ${tokenSecret ?? NO_SECRET}` },
          signal,
        });
        if (answer.statusCode === 404) return { kind: 'missing' };
        const body = await bounded(answer.body, ANNOUNCED_BYTES_MAX);
        const refs = answer.statusCode === 200 ? readRefNames(body) : null;
        if (refs !== null) return { kind: 'refs', refs };
        const reason =
          answer.statusCode === 200 ? 'it is no Git server' : `the relay answered ${answer.statusCode}`;
        return { kind: 'failed', reason: reasons.get(`${provider}/${name}`) ?? reason };
      } catch (error) {
        return signal.aborted ? { kind: 'late' } : { kind: 'failed', reason: asParleyError(error).message };
      } finally {
        await connection.destroy();
      }
    },
    async close() {
      await relay.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What is beyond the bound is not read. */
export async function bounded(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > bytesMax) break;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
