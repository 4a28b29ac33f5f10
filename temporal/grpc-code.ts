/**
 * The numbers by which gRPC says why a call failed, as far as Parley reacts to them.
 * Owns the reading of an error; must not decide what to do about it.
 */

/** Numbers of the gRPC specification. */
export const GRPC = {
  /** Also what a server says that noticed the end of our time before we did. */
  cancelled: 1,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** Null for anything that is no error of gRPC. */
export function grpcCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'number' ? error.code : null;
}

/** What the server or the transport said. */
export function grpcDetails(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'details' in error && typeof error.details === 'string' ? error.details : error.message;
}
