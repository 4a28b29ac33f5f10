/**
 * Objects of Git LFS of a code host: it is called by its own protocol, and what it names is fetched from here.
 * Owns the outgoing requests. Where a host keeps objects is its own business: it may name another host, and a
 * credential for it. The sandbox sees neither, and the credential of the code host goes to the code host alone.
 */
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { request as send, type Dispatcher } from 'undici';
import { z } from 'zod';
import { parsedJson } from '../../core/text/parsed-json.ts';
import type { LfsFault, LfsObject, LfsSource } from './lfs.ts';
import { LFS_ANSWER_BYTES_MAX, REDIRECTS_MAX, UPSTREAM_SILENCE_MS } from './limits.ts';
import { USER_AGENT, type UpstreamCall } from './upstream.ts';

const MEDIA_TYPE = 'application/vnd.git-lfs+json';

const actionSchema = z.object({
  href: z.string(),
  header: z.record(z.string(), z.string()).nullish(),
});
const answerSchema = z.object({
  objects: z.array(
    z.object({
      oid: z.string(),
      authenticated: z.boolean().nullish(),
      actions: z.object({ download: actionSchema.nullish() }).nullish(),
      error: z.object({ code: z.number().int(), message: z.string() }).nullish(),
    }),
  ),
});

type Host = Pick<UpstreamCall, 'url' | 'authorization' | 'signal' | 'dispatcher'>;

interface Download {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

type Found = Download | NonNullable<LfsFault>;

export function upstreamLfs(host: Host): LfsSource {
  return {
    async look(objects) {
      const found = await ask(host, objects);
      return found?.map((one) => ('url' in one ? null : one)) ?? null;
    },
    async send(object, response) {
      const [found] = (await ask(host, [object])) ?? [];
      if (found === undefined || !('url' in found)) return false;
      await fetchInto(host, found, { object, response });
      return true;
    },
  };
}

/** In the order of the request; null when the host has no such repository, or no Git LFS for it. */
async function ask(host: Host, objects: readonly LfsObject[]): Promise<readonly Found[] | null> {
  const { url, authorization, signal, dispatcher } = host;
  const clone = url.endsWith('.git') ? url : `${url}.git`;
  const answer = await send(`${clone}/info/lfs/objects/batch`, {
    method: 'POST',
    headers: {
      accept: MEDIA_TYPE,
      'content-type': MEDIA_TYPE,
      'user-agent': USER_AGENT,
      ...(authorization === null ? {} : { authorization }),
    },
    body: JSON.stringify({ operation: 'download', transfers: ['basic'], objects, hash_algo: 'sha256' }),
    ...{ signal, dispatcher, headersTimeout: UPSTREAM_SILENCE_MS, bodyTimeout: UPSTREAM_SILENCE_MS },
  });
  const { statusCode: status, body } = answer;
  if (status !== 200) {
    await body.dump();
    if (status === 401 || status === 403 || status === 404) return null;
    throw new Error(`the code host answered ${status} to a question of Git LFS`);
  }
  const read = answerSchema.safeParse(parsedJson(await boundedText(body)));
  if (!read.success) throw new Error('the code host answered what is none of Git LFS');
  const byOid = new Map(read.data.objects.map((one) => [one.oid, one]));
  return objects.map(({ oid }) => foundOf(byOid.get(oid), host));
}

type Answered = z.infer<typeof answerSchema>['objects'][number];

function foundOf(answered: Answered | undefined, { url: hostUrl, authorization }: Host): Found {
  const { error, actions, authenticated } = answered ?? {};
  const download = actions?.download;
  if (error !== null && error !== undefined) return { code: error.code, message: 'the code host refuses it' };
  if (download === null || download === undefined) return { code: 404, message: 'the object is not there' };
  const url = URL.canParse(download.href, hostUrl) ? new URL(download.href, hostUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    return { code: 502, message: 'the code host names no address' };
  const own = new Map(
    Object.entries(download.header ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const isSame = url.origin === URL.parse(hostUrl)?.origin;
  if (isSame && authenticated !== true && authorization !== null && !own.has('authorization'))
    own.set('authorization', authorization);
  return { url, headers: Object.fromEntries(own) };
}

async function fetchInto(
  { signal, dispatcher }: Host,
  download: Download,
  { object, response }: { readonly object: LfsObject; readonly response: ServerResponse },
): Promise<void> {
  let { url, headers } = download;
  for (let redirects = 0; ; redirects += 1) {
    const {
      statusCode: status,
      headers: answered,
      body,
    } = await send(url, {
      method: 'GET',
      headers: { ...headers, 'user-agent': USER_AGENT, 'accept-encoding': 'identity' },
      ...{ signal, dispatcher, headersTimeout: UPSTREAM_SILENCE_MS, bodyTimeout: UPSTREAM_SILENCE_MS },
    });
    if (status === 200) {
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-length': object.size,
      });
      await pipeline(body, response);
      return;
    }
    await body.dump();
    const { location } = answered;
    if (status < 300 || status > 399 || typeof location !== 'string' || redirects >= REDIRECTS_MAX)
      throw new Error(`the store of Git LFS answered ${status}`);
    const next = new URL(location, url);
    if (next.protocol !== url.protocol && next.protocol !== 'https:')
      throw new Error('the store of Git LFS redirects to an address that is not safe');
    // A credential is for the host it was given for.
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
}

async function boundedText(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > LFS_ANSWER_BYTES_MAX) throw new Error('the answer of the code host is too long');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
