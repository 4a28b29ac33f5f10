/**
 * An answer other than success, thrown by handlers and sent by the server's error handler.
 */

/** One finding of a 422, in the shape the reference uses. */
export interface Finding {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

export class HttpError extends Error {
  readonly status: number;
  readonly detail: string | readonly Finding[];

  constructor(status: number, detail: string | readonly Finding[]) {
    super(typeof detail === 'string' ? detail : 'The request is not valid');
    this.status = status;
    this.detail = detail;
  }
}

/** A 422 about one field. */
export function invalid(loc: readonly (string | number)[], msg: string): HttpError {
  return new HttpError(422, [{ type: 'value_error', loc, msg }]);
}
