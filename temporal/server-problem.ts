/**
 * What a failed call to a Temporal server means for the person who configured it: one sentence and a remedy.
 * Owns the words; must not call.
 */
import { ParleyError } from '../core/parley-error.ts';
import { GRPC, grpcCode, grpcDetails } from './grpc-code.ts';
import type { TemporalServer } from './server-address.ts';

type Address = Pick<TemporalServer, 'address'>;

/** An error of gRPC as one of ours; one that is ours already stays. */
export function serverProblem({ address }: Address, cause: unknown): ParleyError {
  if (cause instanceof ParleyError) return cause;
  switch (grpcCode(cause)) {
    case GRPC.unauthenticated:
    case GRPC.permissionDenied:
      return refused(address, cause);
    case GRPC.cancelled:
    case GRPC.deadlineExceeded:
      return unreachable(address, { cause, because: 'there is no answer' });
    case GRPC.unavailable:
      return unavailable(address, cause);
    case GRPC.unimplemented:
      return notTemporal(address, cause);
    default:
      return unreachable(address, { cause, because: saidBy(cause) });
  }
}

function refused(address: string, cause: unknown): ParleyError {
  const code = grpcCode(cause) === GRPC.unauthenticated ? 'unauthorized' : 'forbidden';
  return new ParleyError(code, `Cannot use the Temporal server at ${address}: it refuses the key`, {
    cause,
    remedy: 'set engine.api_key, or the certificate of engine.tls, to one that this server accepts',
  });
}

/** The transport says only in words what went wrong. */
function unavailable(address: string, cause: unknown): ParleyError {
  const said = grpcDetails(cause);
  if (/ECONNREFUSED/.test(said)) return unreachable(address, { cause, because: 'nothing listens there' });
  if (/Name resolution|ENOTFOUND|EAI_AGAIN/.test(said)) {
    return unreachable(address, { cause, because: 'the name is not known' });
  }
  if (/certificate|SSL routines|EPROTO|ALPN/i.test(said)) return tlsRefused(address, cause);
  if (/Protocol error|Failed to connect|ECONNRESET/.test(said)) return notTemporal(address, cause);
  return unreachable(address, { cause, because: saidBy(cause) });
}

/** `because` follows the address, without a period. */
export function unreachable(
  address: string,
  { cause, because }: { readonly cause: unknown; readonly because: string },
): ParleyError {
  return new ParleyError('engine_unreachable', `Cannot reach a Temporal server at ${address}: ${because}`, {
    cause,
    remedy: 'start one with "parley temporal dev", or set engine.address',
  });
}

function tlsRefused(address: string, cause: unknown): ParleyError {
  const because = /certificate/i.test(grpcDetails(cause))
    ? 'its certificate is not trusted'
    : 'it does not speak TLS';
  return new ParleyError('engine_misconfigured', `Cannot use the Temporal server at ${address}: ${because}`, {
    cause,
    remedy: 'correct engine.tls: leave it out without TLS, or name the authority of the certificate',
  });
}

function notTemporal(address: string, cause: unknown): ParleyError {
  const message = `Cannot use the Temporal server at ${address}: what listens there does not answer as one`;
  return new ParleyError('engine_misconfigured', message, {
    cause,
    remedy: 'correct engine.address, or set engine.tls when the server wants TLS',
  });
}

/** A message of a library can have several lines, or none; ours is one sentence, with the number of gRPC where nothing is said. */
function saidBy(cause: unknown): string {
  const said = grpcDetails(cause).replaceAll(/\s+/g, ' ').trim();
  if (said !== '') return said;
  const code = grpcCode(cause);
  return code === null ? 'it gave no reason' : `it gave no reason (gRPC code ${code})`;
}
