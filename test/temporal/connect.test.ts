/** Connecting: what works, and one sentence with a remedy for everything that does not. Servers are real. */
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ParleyError } from '../../core/parley-error.ts';
import { checkServer } from '../../temporal/check-server.ts';
import { connectTemporal } from '../../temporal/connect.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { freePort } from '../../loopback/free-port.ts';
import { GRPC } from '../../temporal/grpc-code.ts';
import { registerOnServer } from '../../temporal/register.ts';
import { findSearchAttributes, registerSearchAttributes } from '../../temporal/search-attributes.ts';
import type { TemporalServer } from '../../temporal/server-address.ts';
import { openServerClient } from '../../temporal/server-client.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.ts';
import { describeWith } from '../helpers/requires.ts';
import {
  listenBusily,
  listenGrpc,
  listenGrpcTls,
  listenHttp,
  listenSilently,
} from '../helpers/temporal-stubs.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';

/** Names that a worker would miss. */
async function missingSearchAttributes(...asked: Parameters<typeof findSearchAttributes>) {
  return (await findSearchAttributes(...asked))?.missing.map(({ name }) => name) ?? [];
}

/** Far more than the bound of one request. */
const BOUND_MS = 9_000;

const at = (address: string): TemporalServer => ({ address, namespace: 'default' });

/** What a person reads; ports differ from run to run. */
async function problemOf(server: TemporalServer): Promise<string> {
  const error: unknown = await connectTemporal(server).then(
    (connection) => connection.close(),
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(ParleyError);
  const { code, message, remedy } = error as ParleyError;
  expect(message).not.toMatch(/\n|\bat .*:\d+:\d+/);
  return `${code}: ${message} = ${remedy}`.replaceAll(server.address, 'HOST:PORT');
}

/** Of gRPC: what a server says when it broke. */
const INTERNAL = 13;
const START = 'start one with "parley temporal dev", or set engine.address';
const KEY = 'set engine.api_key, or the certificate of engine.tls, to one that this server accepts';
const TLS = 'correct engine.tls: leave it out without TLS, or name the authority of the certificate';
const OTHER = 'correct engine.address, or set engine.tls when the server wants TLS';

describe('connectTemporal() without a Temporal server', () => {
  it('says that nothing listens', async () => {
    expect(await problemOf(at(`127.0.0.1:${await freePort()}`))).toBe(
      `engine_unreachable: Cannot reach a Temporal server at HOST:PORT: nothing listens there = ${START}`,
    );
  });

  it('says that a name is not known', async () => {
    expect(await problemOf(at('no-such-host.invalid:7233'))).toBe(
      `engine_unreachable: Cannot reach a Temporal server at HOST:PORT: the name is not known = ${START}`,
    );
  });

  it('waits for a silent port only seconds', async () => {
    const startedAt = performance.now();
    const expected = `engine_unreachable: Cannot reach a Temporal server at HOST:PORT: there is no answer = ${START}`;
    const address = await listenSilently();
    const tls = { ...at(address), tls: true };
    expect(await Promise.all([problemOf(at(address)), problemOf(tls)])).toEqual([expected, expected]);
    expect(performance.now() - startedAt).toBeLessThan(BOUND_MS);
  });

  it('says that something else listens', async () => {
    const expected = `engine_misconfigured: Cannot use the Temporal server at HOST:PORT: what listens there does not answer as one = ${OTHER}`;
    expect(await problemOf(at(await listenHttp()))).toBe(expected);
    expect(await problemOf(at(await listenGrpc(GRPC.unimplemented)))).toBe(expected);
    expect(await problemOf(at((await listenGrpcTls(0)).address))).toBe(expected);
  });

  it.each([
    ['unauthorized', GRPC.unauthenticated],
    ['forbidden', GRPC.permissionDenied],
  ])('says that the key is refused: %s', async (code, status) => {
    const expected = `${code}: Cannot use the Temporal server at HOST:PORT: it refuses the key = ${KEY}`;
    expect(await problemOf(at(await listenGrpc(status)))).toBe(expected);
    const { address, certificate } = await listenGrpcTls(status);
    const tls = { rootCertificates: certificate };
    expect(await problemOf({ ...at(address), tls, apiKey: 'wrong' })).toBe(expected);
  });

  it(
    'waits for one that is there and busy, longer than for one that is not there',
    async () => {
      const busy = await listenBusily(GRPC.unauthenticated, 6_000);
      expect(await problemOf(at(busy))).toContain(
        'unauthorized: Cannot use the Temporal server at HOST:PORT',
      );
    },
    2 * BOUND_MS,
  );

  it('names the number of an error without a word', async () => {
    expect(await problemOf(at(await listenGrpc(INTERNAL)))).toBe(
      `engine_unreachable: Cannot reach a Temporal server at HOST:PORT: it gave no reason (gRPC code ${INTERNAL}) = ${START}`,
    );
  });

  it('takes a server at its word that lets nobody ask for search attributes, and says so when it must register', async () => {
    const client = openServerClient(at(await listenGrpc(GRPC.permissionDenied)));
    try {
      expect(await findSearchAttributes(client, 'default')).toBeNull();
      expect(await missingSearchAttributes(client, 'default')).toEqual([]);
      await expect(registerSearchAttributes(client, 'default')).rejects.toMatchObject({
        code: 'engine_misconfigured',
        message: 'Cannot register search attributes of namespace "default": the server does not allow it',
      });
    } finally {
      await client.close();
    }
  });

  it('says what is wrong with TLS', async () => {
    const { address } = await listenGrpcTls(0);
    expect(await problemOf({ ...at(address), tls: true })).toBe(
      `engine_misconfigured: Cannot use the Temporal server at HOST:PORT: its certificate is not trusted = ${TLS}`,
    );
    expect(await problemOf({ ...at(await listenGrpc(0)), apiKey: 'means TLS' })).toBe(
      `engine_misconfigured: Cannot use the Temporal server at HOST:PORT: it does not speak TLS = ${TLS}`,
    );
  });
});

describeWith('temporal', 'a Temporal server', () => {
  let server: DevServer;
  beforeAll(async () => {
    server = await startServerForTests();
  });
  afterAll(() => server?.stop());

  it('gives a connection for worker and client', async () => {
    const connection = await connectTemporal(server);
    try {
      const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: 'default' });
      expect(namespaceInfo?.name).toBe('default');
      expect(await missingSearchAttributes(connection, 'default')).toEqual([]);
    } finally {
      await connection.close();
    }
  });

  it('without the namespace is refused with those that it has', async () => {
    expect(await problemOf({ ...server, namespace: 'nowhere' })).toBe(
      'engine_misconfigured: Cannot use namespace "nowhere": the Temporal server at HOST:PORT has none of that name; ' +
        'it has "default" = make it with "parley temporal register --address HOST:PORT --namespace nowhere", ' +
        'or set engine.namespace',
    );
  });

  it('without the search attributes is refused, until they are registered', async () => {
    const bare = { address: server.address, namespace: 'bare' };
    const names = SEARCH_ATTRIBUTES.map(({ name }) => name);
    await withBareNamespace(bare, async (client) => {
      expect(await missingSearchAttributes(client, 'bare')).toEqual(names);
      expect(await problemOf(bare)).toBe(
        `engine_misconfigured: Cannot use namespace "bare": it lacks the search attributes ${names.join(', ')} = ` +
          'register them with "parley temporal register --address HOST:PORT --namespace bare"',
      );
      expect(await registerSearchAttributes(client, 'bare')).toEqual(names);
      expect(await registerSearchAttributes(client, 'bare')).toEqual([]);
      await checkServer(bare);
    });
  });

  it('with a search attribute of another type is refused, also by registering', async () => {
    const other = { address: server.address, namespace: 'other' };
    await withBareNamespace(other, async (client) => {
      const searchAttributes = { ParleyStatus: INT };
      await client.operatorService.addSearchAttributes({ namespace: 'other', searchAttributes });
      const expected =
        'engine_misconfigured: Cannot use namespace "other": search attributes have another type, ' +
        'ParleyStatus must be Keyword = use a namespace of its own for Parley: a type cannot be changed';
      await expect(registerSearchAttributes(client, 'other')).rejects.toThrow('ParleyStatus must be Keyword');
      await registerSearchAttributes(client, 'other').catch(() => undefined);
      expect((await findSearchAttributes(client, 'other'))?.present).toEqual([]);
      expect(await problemOf(other)).toBe(expected);
    });
  });

  it('is registered once, whoever else registers', async () => {
    const registration = { address: server.address, namespace: 'made', retentionDays: 3 };
    const both = await Promise.all([registerOnServer(registration), registerOnServer(registration)]);
    expect(both.filter(({ namespaceCreated }) => namespaceCreated)).toHaveLength(1);
    expect(await registerOnServer(registration)).toEqual({ namespaceCreated: false, searchAttributes: [] });
    await checkServer(registration);
    const client = openServerClient(registration);
    const { config } = await client.workflowService.describeNamespace({ namespace: 'made' });
    await client.close();
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(3 * 86_400);
  });
});

/** `IndexedValueType` of the API. */
const INT = 3;

/** A namespace as another program makes it: nothing of ours is registered. */
async function withBareNamespace(
  server: TemporalServer,
  work: (client: ReturnType<typeof openServerClient>) => Promise<void>,
): Promise<void> {
  const client = openServerClient(server);
  try {
    await client.workflowService.registerNamespace({
      namespace: server.namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    await work(client);
  } finally {
    await client.close();
  }
}
